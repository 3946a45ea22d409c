// The faults of the store in memory.

import FileIO
import ObjectStore
import TestTraits
import Testing

@Suite(.blocking) struct MemoryStoreTests {
    private let store = MemoryStore()
    private let name: ObjectName

    init() throws { name = try #require(ObjectName("a")) }

    @Test("a call goes wrong as the test arranges it")
    func faults() throws {
        store.arrange(.fails(.busy), atCall: 0)
        store.arrange(.answerLost, atCall: 1)
        store.arrange(.isCut, atCall: 3)
        store.arrange(.isCut, atCall: 5)
        expect(.busy) { try store.put(name, [1, 2]) }
        #expect(store.objects.isEmpty)
        expect(.unreachable) { try store.put(name, [1, 2]) }
        #expect(try store.put(name, [3]) == .exists)
        #expect(try store.get(name) == [1])
        #expect(try store.get(name) == [1, 2])
        let other = try #require(ObjectName("b"))
        expect(.unreachable) { try store.put(other, [1]) }
        #expect(try store.length(of: other) == nil)
        store.arrange { call in if case .delete = call { .fails(.notAllowed) } else { nil } }
        expect(.notAllowed) { try store.delete(name) }
        store.arrange(nil)
        store.arrange(.repeated, atCall: 8)
        #expect(try store.put(other, [1]) == .exists)
        #expect(store.calls.count == 9)
    }

    @Test("a call that hangs ends when the store is closed")
    func hanging() throws {
        store.arrange(.hangs, atCall: 0)
        try DetachedThread.start(for: "the test") { [store] in
            while store.calls.isEmpty {}
            store.close()
        }
        expect(.cancelled) { try store.get(name) }
    }

    @Test("a store can be one that replaces objects, or allows no deleting")
    func kinds() throws {
        let replacing = MemoryStore(refusesToOverwrite: false)
        #expect(try replacing.put(name, [1]) == .created)
        #expect(try replacing.put(name, [2]) == .created)
        #expect(try replacing.get(name) == [2])
        expect(.notAllowed) { try MemoryStore(allowsDeleting: false).delete(name) }
    }
}
