// Values behind a lock.

import Testing
import Threading

@Suite("Locked values")
struct LockedTests {
    /// Locks, suspends and locks again in functions that are inlined into one, like a watcher's journal in an audit.
    private final class Journal: Sendable {
        private let state = Locked([Int]())

        func add(_ number: Int) { state.withLock { $0.append(number) } }
        var count: Int { state.withLock { $0.count } }
    }

    @Test("a value can be locked before and after a suspension, on any thread")
    func suspensions() async {
        let journal = Journal()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    for _ in 0..<500 {
                        journal.add(number)
                        await Task.yield()
                        journal.add(number)
                    }
                }
            }
        }
        #expect(journal.count == 64_000)
    }

    @Test("threads change a value one at a time")
    func exclusion() async {
        let journal = Journal()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { for _ in 0..<10_000 { journal.add(number) } }
            }
        }
        #expect(journal.count == 80_000)
    }

    @Test("the value is released with its lock, and an error of the body releases the lock")
    func lifetime() {
        final class Witness: Sendable {}
        struct Failure: Error {}
        weak var witness: Witness?
        do {
            let locked = Locked<Witness?>(nil)
            witness = locked.withLock { value in
                let new = Witness()
                value = new
                return new
            }
            #expect(throws: Failure.self) { try locked.withLock { _ in throw Failure() } }
            #expect(locked.withLock { $0 != nil })
            #expect(witness != nil)
        }
        #expect(witness == nil)
    }

    @Test("a thread that locks twice traps instead of waiting forever")
    func recursion() async {
        await #expect(processExitsWith: .failure) {
            let locked = Locked(0)
            locked.withLock { _ in locked.withLock { _ in } }
        }
    }
}
