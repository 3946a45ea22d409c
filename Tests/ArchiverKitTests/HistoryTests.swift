// Random histories: every captured state can be restored, whatever happened in between.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct HistoryTests {
    /// A root that was edited at random, with its snapshots and the listing of the tree for each.
    private struct History {
        let sandbox: Sandbox
        let seed: UInt64
        var edits: RandomEdits
        var random: SeededGenerator
        var states: [(snapshot: ListedSnapshot, listing: TreeListing)] = []

        init(_ purpose: String, steps: Int) throws {
            sandbox = try Sandbox()
            random = SeededGenerator(purpose)
            seed = random.seed
            edits = RandomEdits(sandbox.root, SeededGenerator(seed: random.next()))
            for step in 0..<steps {
                try editSome()
                let listing = try TreeListing(of: sandbox.root.directory)
                let result = try sandbox.archive.capture(sandbox.root.directory)
                #expect(result.problemCount == 0, "seed \(seed), step \(step): \(result.problems)")
                // Edits may cancel each other out.
                if let snapshot = result.snapshot { states.append((snapshot, listing)) }
            }
        }

        mutating func editSome() throws {
            for _ in 0...random.below(4) { _ = try edits.edit() }
        }

        mutating func anyIndex() -> Int { random.below(states.count) }
    }

    @Test("every snapshot restores the captured tree", arguments: 1...3)
    func snapshots(run: Int) throws {
        let history = try History("every snapshot restores the captured tree, run \(run)", steps: 50)
        #expect(history.states.count > 40)
        for (index, state) in history.states.enumerated() {
            let found = try history.sandbox.restored(state.snapshot)
            found.expect(equals: state.listing, "seed \(history.seed), snapshot \(index)")
        }
        try history.sandbox.expectCleanArchive()
        let reopened = try history.sandbox.reopened()
        #expect(try reopened.snapshots().map(\.id) == history.states.map(\.snapshot.id))
    }

    @Test("differences of snapshots are those of the trees")
    func differences() throws {
        var history = try History("differences of snapshots are those of the trees", steps: 40)
        for _ in 0..<200 {
            let left = history.states[history.anyIndex()]
            let right = history.states[history.anyIndex()]
            var found: [String: Difference.Kind] = [:]
            var order: [RelativePath] = []
            try history.sandbox.archive.differences(from: left.snapshot, to: right.snapshot) { difference in
                order.append(difference.path)
                // The oracle knows which names belong to one file, and the archive knows the inode: these differ.
                if difference.aspects != ["links"] { found[TreeListing.key(difference.path)] = difference.kind }
                return true
            }
            #expect(order == order.sorted(), "seed \(history.seed)")
            #expect(found == left.listing.kinds(ofDifferencesTo: right.listing), "seed \(history.seed)")
        }
    }

    @Test("restores in place are exact and can be undone")
    func restoreInPlace() throws {
        var history = try History("restores in place are exact and can be undone", steps: 25)
        for step in 0..<25 {
            // Sometimes the restore replaces a state that was not captured yet.
            if history.random.below(2) == 0 { try history.editSome() }
            let before = try TreeListing(of: history.sandbox.root.directory)
            let wanted = history.states[history.anyIndex()]
            let note = "seed \(history.seed), step \(step)"
            let result = try history.sandbox.archive.restore(wanted.snapshot)
            #expect(result.warnings == [], "\(note)")
            try history.sandbox.expectRoot(equals: wanted.listing, "\(note), restored")
            let captured = try history.sandbox.archive.capture(history.sandbox.root.directory)
            #expect(captured.snapshot == nil, "\(note): the restore was not captured: \(captured.changedPaths)")
            if history.random.below(2) == 0 {
                let undo = try #require(result.undo)
                #expect(try history.sandbox.archive.restore(undo).warnings == [], "\(note)")
                try history.sandbox.expectRoot(equals: before, "\(note), undone")
            }
        }
        try history.sandbox.expectCleanArchive()
    }

    @Test("a restore of one path in place changes only that path")
    func restorePath() throws {
        var history = try History("a restore of one path in place changes only that path", steps: 25)
        for step in 0..<40 {
            if history.random.below(2) == 0 { try history.editSome() }
            let before = try TreeListing(of: history.sandbox.root.directory)
            let wanted = history.states[history.anyIndex()]
            // A path whose parent exists now: for others, the restore would have to create the directories above.
            let paths = wanted.listing.objects.keys.sorted().filter { path in
                guard let slash = path.lastIndex(of: "/") else { return true }
                return before.objects[String(path[..<slash])]?.type == 0o040000
            }
            let path = paths[history.random.below(paths.count)]
            let note = "seed \(history.seed), step \(step), '\(path)'"
            let options = RestoreOptions(path: try .at(FilePath(path)))
            let result = try history.sandbox.archive.restore(wanted.snapshot, options)
            #expect(result.warnings == [], "\(note)")
            let after = try TreeListing(of: history.sandbox.root.directory)
            after.below(path).withoutLinks.expect(equals: wanted.listing.below(path).withoutLinks, "\(note), inside")
            after.without(below: path).withoutLinks.expect(
                equals: before.without(below: path).withoutLinks, "\(note), outside")
            let captured = try history.sandbox.archive.capture(history.sandbox.root.directory)
            #expect(captured.snapshot == nil, "\(note): the restore was not captured: \(captured.changedPaths)")
        }
        try history.sandbox.expectCleanArchive()
    }

    @Test("each snapshot's parent is the previous one")
    func chain() throws {
        let history = try History("each snapshot's parent is the previous one", steps: 10)
        let snapshots = try history.sandbox.archive.snapshots()
        #expect(snapshots.first?.parent == nil)
        for (earlier, later) in zip(snapshots, snapshots.dropFirst()) {
            #expect(later.parent == earlier.id)
            #expect(later.time >= earlier.time)
        }
    }
}
