// Saving and loading states from async code.

import ArchiverKit
import Dispatch
import FileIO
import TestTraits
import Testing
import Threading

@testable import Archives
@testable import SavedStates

@Suite("States in async code", .blocking)
struct AsyncStateTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    /// Holds a title on a thread of its own until `release`.
    private final class Holder: Sendable {
        private let held = DispatchSemaphore(value: 0)
        private let freed = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        init(_ title: String, _ archive: Archive) throws {
            try DetachedThread.start(for: "holding a title") { [held, freed, ended] in
                #expect(throws: Never.self) {
                    try archive.update(title, startingFrom: 0) { (_: inout Int) in
                        held.signal()
                        freed.wait()
                    }
                }
                ended.signal()
            }
            held.wait()
        }

        func release() {
            freed.signal()
            ended.wait()
        }
    }

    private func waitForWaiters(_ count: Int, title: String) async {
        let place = TitleTurns.Place(archive: archive.id, title: title)
        while TitleTurns.shared.waiterCount(at: place) < count { await Task.yield() }
    }

    @Test("states are saved, loaded and updated")
    func values() async throws {
        let memento = try await archive.save(Game(score: 1), as: "game", label: "first")
        #expect(try await archive.load(Game.self, memento) == Game(score: 1))
        let score = try await archive.update("game") { (game: inout Game) in
            game.score += 1
            return game.score
        }
        #expect(score == 2)
        #expect(try await archive.load(as: "game", startingFrom: Game()) == Game(score: 2))
        #expect(try await archive.load(as: "new", startingFrom: Game(score: 5)) == Game(score: 5))
        #expect(try await archive.load(Game.self, as: "game", at: "first").score == 1)
        #expect(
            try await archive.update("count", startingFrom: 1) {
                $0 += 1; return $0
            } == 2)
        await #expect(throws: StateError.self) { try await archive.update("none") { (_: inout Game) in } }
    }

    @Test("what needs no title does not wait behind a thousand updates that wait for one, and none of them is lost")
    func manyWaiting() async throws {
        let archive = archive
        let holder = try Holder("busy", archive)
        try await withThrowingTaskGroup { group in
            for _ in 0..<1000 {
                group.addTask { try await archive.update("busy") { (number: inout Int) in number += 1 } }
            }
            await waitForWaiters(1000, title: "busy")
            // If these waited, the test would never end.
            try await archive.save(7, as: "other")
            #expect(try await archive.load(Int.self, as: "other") == 7)
            #expect(try await archive.load(Int.self, as: "other", at: "oldest") == 7)
            holder.release()
            try await group.waitForAll()
        }
        #expect(try await archive.load(Int.self, as: "busy") == 1000)
    }

    @Test("a blocking call does not wait behind others that block")
    func blocking() async throws {
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup { group in
            // More than the usual number of threads.
            for _ in 0..<40 { group.addTask { await Blocking.run { gate.wait() } } }
            #expect(await Blocking.run { 1 } == 1)
            for _ in 0..<40 { gate.signal() }
        }
    }

    @Test("a cancelled task does not capture, restore, save, load or update, and nothing has changed")
    func cancelledBefore() async throws {
        let (archive, root) = (archive, sandbox.root.directory)
        try sandbox.root.write("a", "old")
        let snapshot = try await archive.capture(root).latest
        try await archive.save(1, as: "number")
        try sandbox.root.write("a", "new")
        let works: [@Sendable () async throws -> Void] = [
            { try await archive.capture(root) },
            { _ = try await archive.restore(snapshot) },
            { try await archive.save(2, as: "number") },
            { _ = try await archive.load(Int.self, as: "number") },
            { _ = try await archive.load(Int.self, as: "other", startingFrom: 1) },
            { try await archive.update("number") { (number: inout Int) in number += 1 } },
        ]
        for work in works {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await work()
            }
            await #expect { try await task.value } throws: { error in
                let cause =
                    if case .archive(let cause)? = error as? StateError { cause } else { error as? ArchiverError }
                return cause?.code == .cancelled
            }
        }
        #expect(try archive.history(of: "number").count == 1 && archive.titles().map(\.title) == ["number"])
        #expect(try archive.snapshots().count == 1)
        #expect(try sandbox.root.read("a") == Array("new".utf8))
    }

    @Test("a cancelled task stops waiting for a thread; work that has begun runs to its end")
    func cancelledInTheQueue() async throws {
        let threads = BlockingThreads(usualLimit: 1, patience: 1000)
        let hasBegun = Locked(false)
        let gate = DispatchSemaphore(value: 0)
        let first = Task {
            try await Blocking.run(on: threads, orThrow: CancellationError()) { () throws(CancellationError) in
                hasBegun.withLock { $0 = true }
                gate.wait()
                return 1
            }
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
        let second = Task {
            try await Blocking.run(on: threads, orThrow: CancellationError()) { () throws(CancellationError) in 2 }
        }
        while threads.waitingCount == 0 { await Task.yield() }
        first.cancel()
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.signal()
        #expect(try await first.value == 1)
    }

    @Test("a cancelled task stops waiting for a title, and saves nothing")
    func cancelled() async throws {
        let archive = archive
        let holder = try Holder("busy", archive)
        let waiting = Task { try await archive.update("busy") { (number: inout Int) in number += 1 } }
        await waitForWaiters(1, title: "busy")
        waiting.cancel()
        await #expect {
            try await waiting.value
        } throws: { error in
            guard case .archive(let cause)? = error as? StateError else { return false }
            return cause.code == .cancelled
        }
        holder.release()
        #expect(try await archive.load(Int.self, as: "busy") == 0)
        try await archive.update("busy") { (number: inout Int) in number += 1 }
        #expect(try await archive.load(Int.self, as: "busy") == 1)
    }

    @Test("saving under a title within its own async update throws titleInUse")
    func nesting() async throws {
        let archive = archive
        try await archive.update("game", startingFrom: Game()) { game in
            #expect {
                try archive.save(Game(), as: "game")
            } throws: { error in
                guard case .titleInUse(title: "game")? = error as? StateError else { return false }
                return true
            }
            game.score = 3
        }
        #expect(try await archive.load(Game.self, as: "game").score == 3)
    }

    @Test("a title that another process holds is waited for, but within an update of another title only for a while")
    func otherProcess() async throws {
        let archive = archive
        try await archive.save(1, as: "a")
        let file = StateWriter(store: archive.store, title: "b", type: "Int", version: 1).lockFile
        let waiting: Task<Int, any Error>
        do {
            let lock = try FileLock.exclusive(file)
            defer { withExtendedLifetime(lock) {} }
            onThisThread {
                #expect {
                    try TitleTurns.$patience.withValue(.milliseconds(20)) {
                        try archive.update("a") { (number: inout Int) in
                            number = 9
                            try archive.save(2, as: "b")
                        }
                    }
                } throws: { error in
                    guard case .titlesEntangled(title: "b", held: "a")? = error as? StateError else { return false }
                    return true
                }
            }
            #expect(try await archive.load(Int.self, as: "a") == 1)
            waiting = Task {
                try await archive.update("b", startingFrom: 0) {
                    $0 += 1; return $0
                }
            }
        }
        #expect(try await waiting.value == 1)
    }

    /// Runs synchronous code, so that the synchronous forms are called.
    private func onThisThread(_ body: () throws -> Void) rethrows { try body() }
}
