// Undoing and redoing restores: how far, what is restored, what stays.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct UndoTests {
    /// A sandbox with the file "file" in the states "0", "1" and so on, and its root.
    private static func states(_ count: Int) throws -> (Sandbox, [ListedSnapshot], ArchivedRoot) {
        let sandbox = try Sandbox()
        let snapshots = try (0..<count).map { state in
            try sandbox.root.write("file", "\(state)")
            return try sandbox.capture()
        }
        return (sandbox, snapshots, try #require(try sandbox.archive.roots().first))
    }

    private func text(_ sandbox: Sandbox) throws -> String {
        String(decoding: try sandbox.root.read("file"), as: UTF8.self)
    }

    // MARK: How far

    /// Undo is not a toggle, and every process that opens the archive continues where the last one was.
    @Test("undoing twice goes two steps back") func twice() throws {
        let (sandbox, snapshots, root) = try Self.states(4)
        for snapshot in snapshots[..<3] { _ = try sandbox.archive.restore(snapshot) }
        // From state 3 the restores led to 0, 1 and 2.
        for (reversal, states) in [("undo", ["1", "0", "3"]), ("redo", ["0", "1", "2"])] {
            for state in states {
                let archive = try sandbox.reopened()
                let results = try reversal == "undo" ? archive.undo(root) : archive.redo(root)
                #expect(results.count == 1 && results.first?.restore.warnings == [])
                #expect(try text(sandbox) == state)
            }
            let code: ArchiverError.Code = reversal == "undo" ? .nothingToUndo : .nothingToRedo
            let error = ArchiverError.expect(code) {
                _ = try reversal == "undo" ? sandbox.archive.undo(root) : sandbox.archive.redo(root)
            }
            #expect(error?.message == "there is nothing to \(reversal) in \(sandbox.root.directory)")
        }
        let archive = sandbox.archive
        #expect(try archive.undo(root, ReversalOptions(steps: 3)).count == 3)
        #expect(try text(sandbox) == "3")
        #expect(try archive.redo(root, ReversalOptions(steps: 2)).compactMap(\.snapshot).count == 2)
        #expect(try text(sandbox) == "1")
        // More steps than there are: nothing is changed.
        let before = try archive.operations()
        ArchiverError.expect(.nothingToUndo) { _ = try archive.undo(root, ReversalOptions(steps: 3)) }
        #expect(try text(sandbox) == "1" && archive.operations() == before)
        #expect(try archive.undo(root, ReversalOptions(steps: 0)).isEmpty)
        // A restore discards the redo steps.
        _ = try archive.restore(snapshots[3])
        ArchiverError.expect(.nothingToRedo) { _ = try archive.redo(root) }
        #expect(try archive.undo(root).first?.snapshot != nil)
        #expect(try text(sandbox) == "1")
        try sandbox.expectCleanArchive()
    }

    /// Work done after a restore, or after an undo, is restored by going the other way.
    @Test("work done since is never lost") func laterWork() throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        _ = try sandbox.archive.restore(snapshots[0])
        try sandbox.root.write("file", "work after the restore, never captured")
        try sandbox.root.write("more", "x")
        let afterRestore = try TreeListing(of: sandbox.root.directory)
        _ = try sandbox.archive.undo(root)
        #expect(try text(sandbox) == "1" && !sandbox.root.exists("more"))
        try sandbox.root.write("file", "work after the undo, never captured")
        let afterUndo = try TreeListing(of: sandbox.root.directory)
        _ = try sandbox.archive.redo(root)
        try sandbox.expectRoot(equals: afterRestore)
        _ = try sandbox.archive.undo(root)
        try sandbox.expectRoot(equals: afterUndo)
    }

    @Test("the log lists all operations") func log() throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        let archive = sandbox.archive
        #expect(try archive.operations().isEmpty)
        let restored = try archive.restore(snapshots[0])
        let undone = try archive.undo(root)
        let log = try archive.operations(of: root)
        #expect(log.map(\.record.kind) == [.restore, .undo])
        #expect(log.map(\.id) == [restored.operation, undone[0].restore.operation])
        #expect(log.map(\.record.before) == [snapshots[1].id, log[0].after])
        #expect(log.map(\.record.snapshot) == [snapshots[0].id, snapshots[1].id])
        #expect(log.map(\.record.path) == [.root, .root])
        let all = try archive.snapshots()
        #expect(all.map(\.cause) == [.capture, .capture, .restore, .restore])
        #expect(log.map(\.after) == all[2...].map(\.id))
        #expect(log.map(\.isComplete) == [true, true])
        #expect(log.map(\.undoneBy) == [log[1].id, nil] && log.map(\.next) == [nil, .redo])
        #expect(undone[0].operation?.id == log[0].id && undone[0].snapshot == snapshots[1] && !undone[0].isResumed)
        // A rebuilt catalogue has the same log.
        let directory = archive.directory
        let check = try archive.check(data: true)
        #expect(check.findings == [] && check.operations == 4)
        let copy = sandbox.base.full("copy")
        try FileManager.default.copyItem(atPath: directory.string, toPath: copy.string)
        let repair = try Archive.repairCatalogue(of: copy)
        #expect(repair.operations == 4 && repair.findings == [])
        #expect(try Archive.open(copy).operations() == log)
    }

    @Test("a restore without changes is not recorded as an operation") func noChange() throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        let archive = sandbox.archive
        let result = try archive.restore(snapshots[1])
        #expect(result.operation == nil)
        _ = try archive.restore(snapshots[0], RestoreOptions(isDryRun: true))
        _ = try archive.restore(snapshots[0], RestoreOptions(target: sandbox.base.full("target")))
        ArchiverError.expect(.noSuchPath) {
            _ = try archive.restore(snapshots[0], RestoreOptions(path: try .at("nothing")))
        }
        #expect(try archive.operations().isEmpty)
        ArchiverError.expect(.nothingToUndo) { _ = try archive.undo(root) }
        // Undo continues even if the state was already restored by hand.
        _ = try archive.restore(snapshots[0])
        try sandbox.root.write("file", "2")
        _ = try archive.restore(snapshots[1])
        try sandbox.root.write("file", "2")
        #expect(try archive.undo(root)[0].restore.replaced == 0)
        #expect(try archive.undo(root)[0].snapshot?.id == snapshots[1].id)
        #expect(try text(sandbox) == "1")
    }

    /// The log is ordered by sequence: setting the clock back must not change the order, and is not carried on.
    @Test("setting the clock back does not change the order of operations") func clock() throws {
        let (sandbox, snapshots, root) = try Self.states(3)
        let future = Timestamp(seconds: 4_000_000_000, nanoseconds: 999_999_999)
        let old = try sandbox.archive.store.enter(
            OperationRecord(
                rootPath: root.path.bytes, host: root.host, kind: .restore, time: future, before: snapshots[1].id,
                snapshot: snapshots[2].id, machine: root.machine))
        _ = try sandbox.archive.restore(snapshots[0])
        let log = try sandbox.archive.operations()
        #expect(log.first?.id == old && log.count == 2)
        #expect(log[1].record.time < Timestamp(seconds: Timestamp.now.seconds + 1))
        _ = try sandbox.archive.undo(root)
        #expect(try text(sandbox) == "2")
        _ = try sandbox.archive.undo(root)
        #expect(try text(sandbox) == "1")
    }

    @Test("a turn ends at the restore that follows its mark, whatever the clock said") func turn() throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        let archive = sandbox.archive
        _ = try archive.store.enter(
            OperationRecord(
                rootPath: root.path.bytes, host: root.host, kind: .mark, time: Timestamp(seconds: 4_000_000_000),
                before: snapshots[0].id, machine: root.machine, name: "ahead",
                sequence: archive.store.catalogue.nextSequence(ofRoot: root.path.bytes, machine: root.machine)))
        _ = try archive.restore(snapshots[0])
        let turn = try #require(try archive.turns(of: root).first)
        #expect(turn.before?.id == snapshots[0].id && turn.after?.id == snapshots[1].id)
    }

    // MARK: Interrupted

    /// A file that changes while an undo runs is skipped.
    ///
    /// The next call completes the undo, and is not a further step.
    @Test("an incomplete undo is completed by the next one") func resumed() throws {
        let (sandbox, snapshots, root) = try Self.states(3)
        let (archive, files) = (sandbox.archive, sandbox.root)
        _ = try archive.restore(snapshots[1])
        try files.write("other", "x")
        _ = try archive.restore(snapshots[0])
        try files.write("file", "present")
        let before = try TreeListing(of: files.directory)
        let first = try archive.undo(root) { action in
            if action.path.description == "file" { try? files.write("file", "busy, and in no snapshot") }
        }
        #expect(first[0].restore.skipped == 1 && files.exists("other"))
        #expect(try archive.operations().map(\.isComplete) == [true, true, false])
        let second = try archive.undo(root)
        #expect(second[0].isResumed && second[0].operation?.id == first[0].operation?.id)
        #expect(try text(sandbox) == "1" && archive.operations().last?.isComplete == true)
        // Redo restores the state before the first attempt, not the one it left.
        #expect(try archive.redo(root)[0].restore.warnings == [])
        try sandbox.expectRoot(equals: before)
        _ = try archive.undo(root, ReversalOptions(steps: 2))
        #expect(try text(sandbox) == "2")
        ArchiverError.expect(.nothingToUndo) { _ = try archive.undo(root) }
    }

    @Test("an incomplete undo can be redone") func incomplete() throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        let (archive, files) = (sandbox.archive, sandbox.root)
        _ = try archive.restore(snapshots[0])
        let before = try TreeListing(of: files.directory)
        _ = try archive.undo(root) { _ in try? files.write("file", "busy") }
        _ = try archive.redo(root)
        try sandbox.expectRoot(equals: before)
        _ = try archive.undo(root)
        #expect(try text(sandbox) == "busy")
        #expect(try archive.operations().map(\.record.kind) == [.restore, .undo, .redo, .undo])
    }

    /// The error names the lost snapshot, and nothing is changed.
    @Test("undo to a lost snapshot is an error") func lostState() throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        let lost = SnapshotID(ChunkID(hashing: [1]))
        _ = try sandbox.archive.store.enter(
            OperationRecord(
                rootPath: root.path.bytes, host: root.host, kind: .restore, time: .now, before: lost,
                snapshot: snapshots[0].id, machine: root.machine))
        let before = try sandbox.archive.operations()
        let error = ArchiverError.expect(.noSuchSnapshot) { _ = try sandbox.archive.undo(root) }
        #expect(error?.message.contains(lost.short) == true)
        #expect(try text(sandbox) == "1" && sandbox.archive.operations() == before)
    }

    // MARK: Concurrency

    @Test("two concurrent undos go two steps back") func concurrent() async throws {
        let (sandbox, snapshots, root) = try Self.states(4)
        for snapshot in snapshots[..<3] { _ = try await sandbox.archive.restore(snapshot) }
        async let one = onThread { try sandbox.reopened().undo(root) }
        async let other = onThread { try sandbox.reopened().undo(root) }
        let results = try await [one[0], other[0]]
        #expect(Set(results.map { $0.operation?.record.snapshot }) == [snapshots[1].id, snapshots[2].id])
        #expect(try text(sandbox) == "0")
        #expect(try sandbox.archive.operations().count == 5)
        try sandbox.expectCleanArchive()
    }

    /// The root's watcher waits for the undo, and then finds everything captured.
    @Test("undo works while the root is watched") func watched() async throws {
        let (sandbox, snapshots, root) = try Self.states(2)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let archive = try sandbox.reopened()
        _ = try await onThread { try archive.restore(snapshots[0]) }
        for round in 0..<3 {
            try sandbox.root.write("file", "work \(round)")
            _ = try await watcher.nextSnapshot()
            _ = try await onThread { try archive.undo(root) }
            #expect(try text(sandbox) == "1")
            try await watcher.service.settle()
            #expect(try archive.snapshots().last?.cause == .restore)
            _ = try await onThread { try archive.redo(root) }
            #expect(try text(sandbox) == "work \(round)")
            try await watcher.service.settle()
        }
        try await watcher.stop()
        #expect(!watcher.names.contains("error"))
        let count = try archive.snapshots().count
        #expect(try await archive.capture(root.path).snapshot == nil && archive.snapshots().count == count)
        try sandbox.expectCleanArchive()
    }
}
