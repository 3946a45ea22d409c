// Values behind a lock.

import Testing
import Threading

@Suite("Locked values")
struct LockedTests {
    /// What the journal of a watcher does in an audit: lock, wait, lock again, in functions that are inlined into one.
    private final class Journal: Sendable {
        private let state = Locked([Int]())

        func add(_ number: Int) { state.withLock { $0.append(number) } }
        var count: Int { state.withLock { $0.count } }
    }

    @Test("A value is locked before and after a suspension, whichever thread goes on")
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

    @Test("Threads change a value one at a time")
    func exclusion() async {
        let journal = Journal()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { for _ in 0..<10_000 { journal.add(number) } }
            }
        }
        #expect(journal.count == 80_000)
    }

    @Test("The value ends with its lock, and an error of the body leaves it unlocked")
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

    @Test("A thread that locks twice traps, rather than waiting for ever")
    func recursion() async {
        await #expect(processExitsWith: .failure) {
            let locked = Locked(0)
            locked.withLock { _ in locked.withLock { _ in } }
        }
    }
}
