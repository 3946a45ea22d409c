// What every store promises, whatever holds the objects.

import FileIO
import ObjectStore
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

/// The stores that need nothing but this machine.
enum LocalStore: String, CaseIterable, CustomTestStringConvertible {
    case memory, directory

    var testDescription: String { rawValue }

    func with(_ body: (any ObjectStore) throws -> Void) throws {
        switch self {
        case .memory: try body(MemoryStore())
        case .directory:
            let place = try TemporaryDirectory()
            try withExtendedLifetime(place) { try body(DirectoryStore(path: place.path.string)) }
        }
    }
}

@Suite(.blocking) struct StoreContractTests {
    @Test("a store creates, reads, lists and deletes objects and replaces none", arguments: LocalStore.allCases)
    func contract(_ kind: LocalStore) throws {
        try kind.with { try StoreContract.check($0) }
    }
}

/// A source that counts what is read to be sent.
final class SlowSource: ObjectSource {
    let pieceBytes: UInt64
    let sent = Locked(0)
    let largest = Locked(0)
    private let source: BytesSource

    init(_ bytes: [UInt8], pieceBytes: UInt64) {
        self.pieceBytes = pieceBytes
        source = BytesSource(bytes)
    }

    var length: UInt64 { source.length }
    var unpaced: any ObjectSource { source }

    func read(_ range: Range<UInt64>) -> [UInt8] {
        sent.withLock { $0 += range.count }
        largest.withLock { $0 = max($0, range.count) }
        return source.read(range)
    }
}

enum StoreContract {
    /// Checks an empty store.
    ///
    /// - Parameter keepsObjects: false for a server that replaces objects, whatever it is asked.
    static func check(_ store: any ObjectStore, keepsObjects: Bool = true) throws {
        func name(_ text: String) throws -> ObjectName {
            guard let name = ObjectName(text) else { throw ChildProcess.Failure(description: "'\(text)' is no name") }
            return name
        }
        let a = try name("a.json")
        #expect(try store.length(of: a) == nil)
        expect(.noSuchObject) { try store.get(a) }
        #expect(try names(store, "") == [])
        try store.delete(a)

        // Put once.
        #expect(try store.put(a, [1, 2, 3, 4, 5]) == .created)
        if keepsObjects { #expect(try store.put(a, [9]) == .exists) }
        #expect(try store.get(a) == [1, 2, 3, 4, 5])
        #expect(try store.length(of: a) == 5)

        // Parts.
        #expect(try store.get(a, 1..<3) == [2, 3])
        #expect(try store.get(a, 3..<99) == [4, 5])
        #expect(try store.get(a, 5..<6) == [])
        #expect(try store.get(a, 99..<100) == [])
        #expect(try store.get(a, 2..<2) == [])

        // An empty object, and one in several pieces.
        let empty = try name("empty")
        #expect(try store.put(empty, []) == .created)
        #expect(try store.get(empty) == [])
        #expect(try store.get(empty, 0..<5) == [])
        #expect(try store.length(of: empty) == 0)
        let large = try name("deep/er/large")
        let bytes = (0..<(1 << 20) + 17).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        #expect(try store.put(large, bytes) == .created)
        #expect(try store.get(large) == bytes)
        #expect(try store.get(large, (1 << 20) - 1..<(1 << 20) + 1) == Array(bytes[(1 << 20) - 1..<(1 << 20) + 1]))

        // What is sent slowly.
        let slow = SlowSource(bytes, pieceBytes: 100_003)
        let slowly = try name("slow")
        #expect(try store.put(slowly, from: slow) == .created)
        #expect(try store.get(slowly) == bytes)
        #expect(slow.largest.withLock { $0 } == 100_003)
        try store.delete(slowly)

        // Lists are in the order of whole names.
        for text in ["d-x", "d/b", "d/a", "d.x", "dx", "D"] { #expect(try store.put(name(text), [0]) == .created) }
        #expect(try names(store, "d") == ["d-x", "d.x", "d/a", "d/b", "deep/er/large", "dx"])
        #expect(try names(store, "d/") == ["d/a", "d/b"])
        #expect(try names(store, "deep/e") == ["deep/er/large"])
        #expect(try names(store, "missing/") == [])
        #expect(try names(store, "") == ["D", "a.json", "d-x", "d.x", "d/a", "d/b", "deep/er/large", "dx", "empty"])
        var entry: ObjectEntry?
        try store.list("deep/") { entry = $0 }
        #expect(entry?.length == UInt64(bytes.count))
        struct Stop: Error {}
        var seen = 0
        #expect(throws: Stop.self) {
            try store.list("") { _ in
                seen += 1
                throw Stop()
            }
        }
        #expect(seen == 1)

        try store.delete(a)
        #expect(try store.length(of: a) == nil)
        #expect(try store.put(a, [7]) == .created)

        store.close()
        expect(.cancelled) { try store.get(a) }
        expect(.cancelled) { try store.put(try name("late"), [1]) }
    }

    static func names(_ store: any ObjectStore, _ prefix: String) throws -> [String] {
        var names: [String] = []
        try store.list(prefix) { names.append($0.name.text) }
        return names
    }
}

/// Expects an `ObjectStoreError` with that code.
@discardableResult
func expect<Result>(
    _ expected: ObjectStoreError.Code, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> ObjectStoreError? {
    do {
        _ = try body()
        Issue.record("no error, expected \(expected)", sourceLocation: location)
        return nil
    } catch {
        let error = error as? ObjectStoreError
        #expect(error?.code == expected, sourceLocation: location)
        return error
    }
}

/// A source that has other bytes each time: what is sent is never what was hashed.
final class ChangingSource: ObjectSource {
    private let reads = Locked<UInt8>(0)

    var length: UInt64 { 1 }

    func read(_ range: Range<UInt64>) -> [UInt8] {
        reads.withLock { reads in
            reads += 1
            return [reads]
        }
    }
}
