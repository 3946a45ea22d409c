// The decisions about one watched root, on a simulated clock and without a file system.

import ArchiveFormat
import ArchiverKit
import Exclusions
import FileIO
import FileWatching
import Roots
import SystemPackage
import TestSupport
import Testing

@testable import Watching

@Suite("Decisions about a watched root") struct RootMachineTests {
    /// A root that is watched.
    private static func watched(auditInterval: Duration = .zero) -> SimulatedRoot {
        var root = SimulatedRoot(auditInterval: auditInterval)
        root.send(.begin)
        root.run()
        #expect(root.machine.state == .watching && root.names == ["starting", "watching"])
        return root
    }

    /// Expects the root to end after a last capture, without a failure.
    private static func expectEnd(_ root: inout SimulatedRoot, sourceLocation: SourceLocation = #_sourceLocation) {
        root.send(.end)
        root.run()
        #expect(root.machine.state == .ended, sourceLocation: sourceLocation)
        if case .success(nil) = root.result {} else { Issue.record("it failed", sourceLocation: sourceLocation) }
        #expect(root.names.last == "stopped", sourceLocation: sourceLocation)
        #expect(root.unanswered.isEmpty, sourceLocation: sourceLocation)
    }

    @Test("a change is captured, and one that is made during the capture is captured next")
    func changes() throws {
        var root = Self.watched()
        root.change("a")
        _ = try root.run { if case .capture = $0 { true } else { false } }
        root.change("b")
        root.run()
        #expect(root.changes.isEmpty)
        #expect(root.orders.map(\.ranges) == [[.subtree(.root)], [.entry("a")], [.entry("b")]])
        #expect(root.orders.map(\.postpones) == [false, true, true])
        Self.expectEnd(&root)
        #expect(root.names == ["starting", "watching", "snapshot", "snapshot", "stopped"])
    }

    @Test("a missing root is waited for, and captured when it appears")
    func missing() {
        var root = SimulatedRoot(waitsForRoot: true)
        root.isThere = false
        root.send(.begin)
        root.run()
        #expect(root.machine.phase == .waiting && root.names == ["waiting"])
        let settled = root.ask(.settle(withLargeFiles: true))
        root.isThere = true
        root.run()
        #expect(root.machine.phase == .watching)
        #expect(root.isSettled(settled))
        #expect(root.names == ["waiting", "starting", "watching"])
        Self.expectEnd(&root)
    }

    @Test("a missing root that is not waited for is a failure")
    func refused() {
        var root = SimulatedRoot()
        root.isThere = false
        root.send(.begin)
        root.run()
        #expect(throws: ArchiverError.self) { try root.result?.get() }
        #expect(!root.names.contains("stopped"))
    }

    @Test("an overflow is a gap, which is entered once, and before the capture")
    func overflow() {
        var root = Self.watched()
        root.interrupt(.overflow)
        root.run()
        #expect(root.entered.map(\.cause) == [.overflow])
        #expect(root.names == ["starting", "watching", "gap"])
        #expect(root.orders.last?.ranges == [.subtree(.root)])
        Self.expectEnd(&root)
        #expect(root.entered.count == 1)
    }

    @Test("the time without a watcher, and a gap that is open at the end, are recorded")
    func otherGaps() {
        var root = SimulatedRoot(lastWatched: Timestamp(seconds: 1000))
        root.send(.begin)
        root.run()
        #expect(root.entered.map(\.cause) == [.downtime] && root.entered.first?.start == Timestamp(seconds: 1000))
        root.move(false)
        Self.expectEnd(&root)
        #expect(root.entered.map(\.cause) == [.downtime, .unavailable])
        #expect(root.names == ["starting", "gap", "watching", "unavailable", "gap", "stopped"])
    }

    @Test("a gap that cannot be entered is entered with a later capture")
    func laterGap() throws {
        var root = Self.watched()
        root.interrupt(.overflow)
        let enter = try root.run { if case .enter = $0 { true } else { false } }
        root.complete(enter, failingWith: SimulatedRoot.error(.system))
        #expect(root.entered.isEmpty)
        root.run()
        #expect(root.entered.map(\.cause) == [.overflow] && root.changes.isEmpty)
        Self.expectEnd(&root)
        #expect(root.entered.count == 1)
    }

    @Test("while the disk is full, the pauses grow, the error is reported once, and nothing is forgotten")
    func fullDisk() {
        var root = Self.watched()
        root.isDiskFull = true
        root.change("a")
        root.run()
        #expect(root.orders.count == 2 && root.unsaved?.code == .noSpace)
        root.pass(.milliseconds(999))
        #expect(root.orders.count == 2)
        root.pass(.milliseconds(1))
        #expect(root.orders.count == 3)
        root.pass(.seconds(182))
        #expect(root.orders.count == 10)
        #expect(root.names.count { $0 == "error" } == 1)
        #expect(root.machine.status(nil, process: 1, isCurrent: false, probe: .zero).failure != nil)
        root.isDiskFull = false
        root.pass(.seconds(60))
        #expect(root.changes.isEmpty && root.unsaved == nil)
        #expect(root.machine.status(nil, process: 1, isCurrent: true, probe: .zero).failure == nil)
        // The next failure begins with the first pause again.
        root.isDiskFull = true
        root.change("b")
        root.run()
        root.isDiskFull = false
        root.pass(.seconds(1))
        #expect(root.changes.isEmpty)
        Self.expectEnd(&root)
    }

    @Test("if maintenance makes room, a capture is repeated without a pause, the first one too")
    func room() {
        var root = SimulatedRoot()
        (root.isDiskFull, root.canMakeRoom) = (true, true)
        root.send(.begin)
        root.run()
        #expect(root.machine.state == .watching && root.orders.count == 2)
        root.isDiskFull = true
        root.change("a")
        root.run()
        #expect(root.changes.isEmpty && root.clock == .zero)
        Self.expectEnd(&root)
    }

    @Test("a root whose first capture finds no room ends at once, without a failure")
    func noRoomAtTheStart() {
        var root = SimulatedRoot()
        root.isDiskFull = true
        root.send(.begin)
        root.run()
        #expect(root.machine.phase == .reading && root.unsaved?.code == .noSpace)
        Self.expectEnd(&root)
    }

    @Test("while the archive is away, changes wait; when it is back, they are captured")
    func awayArchive() {
        var root = Self.watched()
        root.isArchiveAway = true
        root.change("a")
        root.interrupt(.overflow)
        root.run()
        root.change("b")
        root.pass(.seconds(600))
        let changed: Set<PathRange> = [.entry("a"), .entry("b")]
        #expect(Set(root.changes.keys) == changed && root.unsaved?.code == .noArchive)
        let settled = root.ask(.settle(withLargeFiles: true))
        root.run()
        #expect(root.answers[settled] == nil)
        root.isArchiveAway = false
        root.pass(.seconds(60))
        #expect(root.changes.isEmpty && root.isSettled(settled))
        #expect(root.entered.map(\.cause) == [.overflow])
        Self.expectEnd(&root)
    }

    @Test("a root that leaves and returns is captured again, with the gap", arguments: [false, true])
    func away(whileCapturing: Bool) throws {
        var root = Self.watched()
        root.change("a")
        if whileCapturing { _ = try root.run { if case .capture = $0 { true } else { false } } }
        root.move(false)
        root.run()
        #expect(root.machine.phase == .unavailable && root.unsaved == nil)
        root.change("b")
        root.move(true)
        root.run()
        #expect(root.machine.phase == .watching && root.changes.isEmpty)
        #expect(root.entered.map(\.cause) == [.unavailable])
        Self.expectEnd(&root)
    }

    @Test("a root that was moved and left a link ends with its new place", arguments: [false, true])
    func moved(atTheStart: Bool) throws {
        var root = atTheStart ? SimulatedRoot() : Self.watched()
        if atTheStart { root.send(.begin) }
        root.place = "/elsewhere"
        root.change("a")
        let settled = root.ask(.settle(withLargeFiles: true))
        root.run()
        #expect(try root.result?.get() == "/elsewhere")
        #expect(!root.names.contains("stopped") && !root.names.contains("error"))
        // The service asks the root that is watched instead.
        #expect(throws: ArchiverError.self) { try root.answers[settled]?.get() }
    }

    @Test("a large file that changes constantly is read when it is due, at the barrier, and at the end")
    func largeFile() {
        var root = Self.watched()
        root.change("large")
        root.change("small")
        root.run()
        #expect(Array(root.changes.keys) == [.entry("large")])
        root.pass(.seconds(60))
        #expect(root.changes.isEmpty)
        root.change("large")
        root.run()
        let current = root.ask(.settle(withLargeFiles: false))
        root.run()
        #expect(root.isSettled(current) && !root.changes.isEmpty)
        let settled = root.ask(.settle(withLargeFiles: true))
        root.run()
        #expect(root.isSettled(settled) && root.changes.isEmpty)
        root.change("large")
        root.run()
        #expect(!root.changes.isEmpty)
        Self.expectEnd(&root)
        #expect(root.changes.isEmpty && root.orders.last?.postpones == false)
    }

    @Test("a barrier whose large file has to be captured otherwise waits for that")
    func superseded() {
        var root = Self.watched()
        root.change("large")
        root.run()
        root.isSuperseded = true
        let settled = root.ask(.settle(withLargeFiles: true))
        root.run()
        #expect(root.answers[settled] == nil)
        for _ in 0..<3 { root.pass(.seconds(60)) }
        #expect(root.isSettled(settled) && root.changes.isEmpty)
        Self.expectEnd(&root)
    }

    @Test("audits come at their interval, and capture what no event has reported")
    func audits() {
        var root = Self.watched(auditInterval: .seconds(3600))
        root.change("missed", isNoticed: false)
        root.pass(.seconds(3599))
        #expect(!root.names.contains("audited") && !root.changes.isEmpty)
        root.pass(.seconds(1))
        #expect(root.changes.isEmpty && root.orders.last?.cause == .audit)
        #expect(root.machine.status(nil, process: 1, isCurrent: true, probe: .zero).lastAudit?.found == 1)
        root.pass(.seconds(3600))
        #expect(root.names.count { $0 == "audited" } == 2)
        root.send(.changed(WatchSettings(auditInterval: .zero)))
        #expect(root.machine.nextDue == nil)
        Self.expectEnd(&root)
    }

    @Test("an audit does not count changes that events have reported, and several callers get one audit")
    func askedAudits() throws {
        var root = Self.watched()
        root.change("a")
        let ids = [root.ask(.audit), root.ask(.audit)]
        root.run()
        for id in ids { #expect(try root.answers[id]?.get()?.found == 0) }
        #expect(root.changes.isEmpty && root.names.count { $0 == "audited" } == 1)
        root.move(false)
        let failed = root.ask(.audit)
        #expect(throws: ArchiverError.self) { try root.answers[failed]?.get() }
        Self.expectEnd(&root)
    }

    @Test("what an audit's capture failed to capture is captured afterwards")
    func failedAudit() throws {
        var root = Self.watched()
        root.change("missed", isNoticed: false)
        let id = root.ask(.audit)
        let capture = try root.run { if case .capture(let order) = $0 { order.cause == .audit } else { false } }
        root.complete(capture, failingWith: SimulatedRoot.error(.system))
        #expect(throws: ArchiverError.self) { try root.answers[id]?.get() }
        root.run()
        #expect(root.changes.isEmpty)
        Self.expectEnd(&root)
    }

    @Test("after the machine has slept, the root is audited, and the gap is recorded")
    func suspended() {
        var root = Self.watched()
        root.change("missed", isNoticed: false)
        root.interrupt(.suspend)
        root.run()
        #expect(root.entered.map(\.cause) == [.suspend] && root.names.contains("audited") && root.changes.isEmpty)
        Self.expectEnd(&root)
    }

    @Test("other rules apply to everything, with a gap; a failure is tried again")
    func rules() throws {
        var root = Self.watched()
        let rules = ExclusionRules(patterns: [Array("*.o".utf8)])
        let id = root.ask(.follow(rules))
        let restart = try #require(root.pending.firstIndex { if case .restart = $0 { true } else { false } })
        root.complete(restart, failingWith: SimulatedRoot.error(.system))
        root.run()
        #expect(root.answers[id] == nil && root.names.last == "error")
        root.pass(.seconds(1))
        #expect(root.isSettled(id) && root.machine.rules == rules)
        #expect(root.orders.last?.ranges == [.subtree(.root)] && root.entered.map(\.cause) == [.downtime])
        Self.expectEnd(&root)
    }

    /// A root of which every request and every kind of work is under way, in this order of its steps.
    private static func busy(_ steps: Int, waitsForRoot: Bool) -> SimulatedRoot {
        var root = SimulatedRoot(
            waitsForRoot: waitsForRoot, lastWatched: Timestamp(seconds: 1), auditInterval: .seconds(5))
        root.isThere = !waitsForRoot
        root.send(.begin)
        for step in 0..<steps {
            if step == 2 { root.isThere = true }
            if step % 7 == 3 { root.change("large") }
            if step % 5 == 2 { root.change("\(step)") }
            if step == 12 { root.ask(.audit) }
            if step == 16 { root.ask(.settle(withLargeFiles: true)) }
            if step == 20 { root.isDiskFull = true }
            if step == 26 { root.isDiskFull = false }
            if step == 30 { root.ask(.follow(ExclusionRules())) }
            if let index = root.pending.firstIndex(where: root.canComplete) {
                root.complete(index)
            } else {
                root.pass(.seconds(1))
            }
        }
        return root
    }

    @Test(
        "a root ends in every state: what was noticed is captured, and all callers get an answer",
        arguments: 0..<60, [false, true])
    func ends(after steps: Int, waitsForRoot: Bool) throws {
        var root = Self.busy(steps, waitsForRoot: waitsForRoot)
        let state = root.machine.state
        root.isDiskFull = false
        root.send(.end)
        root.run()
        #expect(root.machine.state == .ended && root.unanswered.isEmpty, "\(state)")
        #expect(try root.result?.get() == nil && root.names.last == "stopped")
        let isRead = ![.looking, .waiting].contains(state)
        #expect(!isRead || root.changes.isEmpty, "\(state), \(root.changes)")
    }

    @Test("a barrier after the last flush is answered with a failure: no capture has what changed before it")
    func lateBarrier() throws {
        var root = Self.watched()
        root.send(.end)
        root.complete(try root.run { if case .flush(.end) = $0 { true } else { false } })
        root.change("a")
        _ = try root.run { if case .capture(let order) = $0 { !order.postpones } else { false } }
        root.change("b")
        let late = root.ask(.settle(withLargeFiles: false))
        root.complete(try #require(root.pending.firstIndex { if case .flush = $0 { true } else { false } }))
        root.run()
        #expect(root.machine.state == .ended && root.changes.keys.map(\.path) == ["b"])
        #expect(root.answers[late] != nil && !root.isSettled(late))
    }

    @Test("random events: one capture at a time, no change or gap is lost, every request has one answer, all ends")
    func random() throws {
        let seed = SeededGenerator("decisions about a watched root").seed
        for number in 0..<400 {
            var random = SeededGenerator(seed: seed &+ UInt64(number))
            var root = SimulatedRoot(
                waitsForRoot: random.below(2) == 0, lastWatched: random.below(2) == 0 ? Timestamp(seconds: 1) : nil,
                auditInterval: random.below(2) == 0 ? .seconds(30) : .zero)
            root.send(.begin)
            for _ in 0..<random.below(200) where root.result == nil { Self.step(&root, &random) }
            // A root that is away while it gets other rules has no further batch.
            let isCut = !root.isThere && root.pending.contains { if case .restart = $0 { true } else { false } }
            let isLate = root.result == nil && !root.machine.isEndRequested && !isCut
            root.send(.end)
            // From now on nothing fails, so that nothing may be left.
            (root.isDiskFull, root.isArchiveAway) = (false, false)
            root.move(true)
            for _ in 0..<500 where root.result == nil { Self.go(&root, &random, failsAt: 0) }
            let note = Comment(rawValue: "TEST_SEED=\(seed), number \(number), \(root.names)")
            #expect(root.result != nil && root.unanswered.isEmpty, note)
            let reported = Self.counts(root.events.compactMap { if case .gap(let gap) = $0 { gap } else { nil } })
            let entered = Self.counts(root.entered)
            #expect(entered.allSatisfy { $0.value <= reported[$0.key, default: 0] }, note)
            guard isLate, root.place == nil, root.names.last == "stopped", root.names.contains("watching") else {
                continue
            }
            #expect(entered == reported && root.unsaved == nil, note)
            #expect(root.unnoticed.isSuperset(of: root.changes.keys), note)
        }
    }

    private static func counts(_ gaps: [GapRecord]) -> [GapRecord: Int] {
        Dictionary(gaps.map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// Something happens to the root.
    private static func step(_ root: inout SimulatedRoot, _ random: inout SeededGenerator) {
        switch random.below(32) {
        case 0...4: root.change("\(random.below(10))")
        case 5: root.change("unnoticed \(random.below(3))", isNoticed: false)
        case 6: root.change("large")
        case 7: root.move(random.below(2) == 0)
        case 8: root.isDiskFull = random.below(2) == 0
        case 9: root.canMakeRoom = random.below(2) == 0
        case 10: root.isArchiveAway = random.below(3) == 0
        case 11: root.isSuperseded = true
        case 12: root.interrupt(random.below(2) == 0 ? .overflow : .suspend)
        case 13: root.ask(.settle(withLargeFiles: random.below(2) == 0))
        case 14: root.ask(.audit)
        case 15: if random.below(3) == 0 { root.ask(.follow(ExclusionRules())) }
        case 16: root.send(.changed(WatchSettings(auditInterval: .seconds(random.below(60)))))
        case 17: if random.below(20) == 0 { root.send(.end) }
        case 18: if random.below(20) == 0 { root.place = "/elsewhere" }
        default: go(&root, &random, failsAt: 10)
        }
    }

    /// A pending action ends, or time passes.
    ///
    /// - Parameter failsAt: one of so many actions fails; 0 for none.
    private static func go(_ root: inout SimulatedRoot, _ random: inout SeededGenerator, failsAt share: Int) {
        let ready = root.pending.indices.filter { root.canComplete(root.pending[$0]) }
        if ready.isEmpty || random.below(8) == 0 { return root.skip(.seconds(random.below(20))) }
        let fails = share > 0 && random.below(share) == 0
        root.complete(
            ready[random.below(ready.count)], failingWith: fails ? SimulatedRoot.error(.system) : nil)
    }
}
