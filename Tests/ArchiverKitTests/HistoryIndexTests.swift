// The index of paths: commits record the same changes that a comparison of trees and a scan of every path find.

import ArchiveFormat
import ArchiveStorage
import Exclusions
import FileIO
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Capturing
@testable import History

@Suite("The index of paths", .blocking) struct HistoryIndexTests {
    @Test("the index built by commits equals a rebuilt one and a naive scan", arguments: 0..<3)
    func equalsNaiveScan(part: UInt64) throws {
        let printed = SeededGenerator("the index built by commits equals a rebuilt one, part \(part)")
        var random = SeededGenerator(seed: printed.seed &+ part)
        let note = Comment(rawValue: "seed \(printed.seed)")
        let sandbox = try Sandbox()
        try sandbox.base.makeDirectory("other")
        let places = [sandbox.root, Files(sandbox.base.directory.appending("other"))]
        var edits = places.map { RandomEdits($0, SeededGenerator(seed: random.next())) }
        var kinds: Set<Int> = []
        for step in 0..<60 {
            // The first capture's exclusions would become the root's own, so the first steps use none.
            let index = step < 2 ? step : random.below(2)
            let root = places[index].directory
            let kind = step < 2 ? 0 : random.below(12)
            kinds.insert(kind)
            switch kind {
            case 9:
                // Paths excluded from one snapshot are missing in it and present in the next.
                let options = CaptureOptions(exclusions: ExclusionRules(patterns: [Array("again*".utf8)]))
                _ = try sandbox.archive.capture(root, options)
            case 10:
                let snapshots = try sandbox.archive.snapshots().filter { $0.rootPath == root.bytes }
                guard !snapshots.isEmpty else { continue }
                let place = ArchivedRoot(here: root)
                if random.oneIn(2), let wanted = snapshots.randomElement(using: &random) {
                    _ = try? sandbox.archive.restore(wanted)
                } else {
                    _ = try? sandbox.archive.undo(place)
                }
            case 11:
                try sandbox.archive.store.catalogue.recordLoss(ofRoot: root.bytes, machine: Machine.id)
            default:
                for _ in 0...random.below(6) { _ = try edits[index].edit() }
                _ = try sandbox.archive.capture(root, CaptureOptions(label: step % 7 == 0 ? "l\(step)" : nil))
            }
        }
        #expect(kinds.count > 6, note)
        let roots = try sandbox.archive.roots()
        for root in roots {
            let number = try #require(try sandbox.archive.number(of: root))
            let unknown = try sandbox.archive.store.catalogue.unknownHistoryCount(root: number)
            #expect(unknown == 0, "commits record their changes; \(note)")
        }
        for root in roots { try expectTruth(root, sandbox, note) }
    }

    private func expectTruth(_ root: ArchivedRoot, _ sandbox: Sandbox, _ note: Comment) throws {
        let archive = sandbox.archive
        let catalogue = archive.store.catalogue
        let number = try #require(try archive.number(of: root))
        let byCommits = try index(of: root, archive)
        let naive = try naiveChanges(of: root, archive)
        #expect(byCommits.changes == naive, note)
        #expect(byCommits.gone == naivelyGone(byCommits.changes), note)

        try catalogue.forgetHistory()
        #expect(try catalogue.unknownHistoryCount(root: number) > 0, note)
        #expect(try index(of: root, archive) == byCommits, "rebuilt; \(note)")

        try expectNames(root, archive, note)
        try expectLimits(root, archive, note)
        let snapshots = try archive.snapshots(SnapshotQuery(root: root))
        #expect(snapshots.count > 10)
        let moved = try sandbox.reopened()
        #expect(try index(of: root, moved) == byCommits, "opened again; \(note)")
    }

    /// Expects that `find` agrees with the history of every name.
    private func expectNames(_ root: ArchivedRoot, _ archive: Archive, _ note: Comment) throws {
        let names = try archive.names(matching: Array("*".utf8), in: root)
        #expect(!names.isEmpty, note)
        let latest = try archive.snapshots(SnapshotQuery(root: root, newestFirst: true, limit: 1)).first
        for name in names {
            let versions = try archive.history(of: name.path, in: root, HistoryQuery(followsRenames: false))
            #expect(versions.count == name.versionCount, "\(name.path); \(note.rawValue)")
            #expect(versions.last?.snapshot == name.first && versions.first?.snapshot == name.lastChange, note)
            #expect(versions.first?.kind == name.kind && versions.first?.size == name.size, note)
            // A snapshot captured aside lacks paths that it excludes; they were not deleted.
            let isGone = versions.first.map { !$0.isPresent && !$0.snapshot.isAside } ?? false
            #expect(isGone == name.isDeleted, note)
            #expect(try archive.entry(at: name.path, in: name.lastIn) != nil, note)
            if let deletedIn = name.deletedIn {
                #expect(try archive.entry(at: name.path, in: deletedIn) == nil, note)
                let next = try archive.neighbours(of: name.lastIn, isLater: true, limit: 1).first
                #expect(next == deletedIn, note)
            } else if versions.first?.isPresent == true {
                #expect(name.lastIn == latest, note)
            }
        }
        let size = names.map(\.size).max() ?? 0
        let larger = try archive.names(matching: Array("*".utf8), largerThan: size / 2, in: root)
        let expected = try names.filter { name in
            try archive.history(of: name.path, in: root, HistoryQuery(followsRenames: false))
                .contains { $0.size > size / 2 }
        }
        #expect(larger == expected, note)
    }

    /// Expects that a limited list of a directory's versions is the beginning of the full list.
    private func expectLimits(_ root: ArchivedRoot, _ archive: Archive, _ note: Comment) throws {
        let directories = try archive.names(matching: Array("*/".utf8), in: root).map(\.path) + [.root]
        for path in directories.suffix(8) {
            let all = try archive.history(ofDirectory: path, in: root)
            for limit in [1, 2, 5] {
                let newest = try archive.history(ofDirectory: path, in: root, HistoryQuery(limit: limit))
                #expect(newest == Array(all.prefix(limit)), "\(path), \(limit); \(note.rawValue)")
            }
        }
    }

    private struct Index: Equatable {
        var changes: [PlacedChange]
        var gone: Set<RelativePath>
    }

    private func index(of root: ArchivedRoot, _ archive: Archive) throws -> Index {
        let number = try #require(try archive.indexed(root))
        let changes = try archive.store.catalogue.changes(root: number, after: .start, through: .end)
        let gone = try archive.store.catalogue.removals(root: number).map(\.change.path)
        return Index(changes: changes, gone: Set(gone))
    }

    /// The changes found by comparing every snapshot's entries with those of the previous one, path by path.
    private func naiveChanges(of root: ArchivedRoot, _ archive: Archive) throws -> [PlacedChange] {
        var found: [PlacedChange] = []
        var before: [RelativePath: Entry]?
        for snapshot in try archive.snapshots(SnapshotQuery(root: root)) {
            var now: [RelativePath: Entry] = [:]
            try archive.forEachEntry(in: snapshot) { entry in
                now[entry.path] = entry
                return true
            }
            if let before {
                var changes = PathChanges()
                for path in Set(before.keys).union(now.keys).sorted() { changes.add(before[path], now[path]) }
                let place = HistoryPlace(snapshot)
                found += changes.linked().map { PlacedChange(place: place, change: $0) }
                    .sorted { $0.change.path.bytes.lexicographicallyPrecedes($1.change.path.bytes) }
            }
            before = now
        }
        return found
    }

    private func naivelyGone(_ changes: [PlacedChange]) -> Set<RelativePath> {
        var last: [RelativePath: PathChange.Kind] = [:]
        for placed in changes { last[placed.change.path] = placed.change.kind }
        return Set(last.filter { $0.value == .removed }.keys)
    }

    @Test("inserting or removing a snapshot updates the recorded changes of the next one")
    func insertionAndRemoval() throws {
        let sandbox = try Sandbox()
        var records: [ListedSnapshot] = []
        var last: FilePath?
        for text in ["one", "two", "three", "four"] {
            try sandbox.root.write("file", text)
            if let last { try sandbox.root.remove(last) }
            let name = FilePath("only in \(text)")
            try sandbox.root.write(name, text + text)
            last = name
            records.append(try sandbox.capture())
        }
        let root = try #require(try sandbox.archive.roots().first)
        #expect(try sandbox.archive.history(of: .at("file"), in: root).count == 4)
        try sandbox.archive.store.forget([records[1].id.chunk])
        let left = try sandbox.archive.history(of: .at("file"), in: root)
        #expect(left.map(\.snapshot.id) == [records[3], records[2], records[0]].map(\.id))
        #expect(try sandbox.archive.history(of: .at("only in two"), in: root).isEmpty)
        let index = try self.index(of: root, sandbox.archive)
        let naive = try naiveChanges(of: root, sandbox.archive)
        #expect(index.changes == naive)
        #expect(index.gone == naivelyGone(index.changes))
        let again = try sandbox.reopened()
        #expect(try self.index(of: root, again) == index)
    }

    @Test("changes beyond a commit's limit are found when a query needs them")
    func overfull() throws {
        var changes = PathChanges(limit: 2)
        for name in ["a", "b"] { changes.add(nil, try entry(FilePath(name))) }
        #expect(!changes.isOverfull && changes.linked().count == 2)
        changes.add(nil, try entry("c"))
        #expect(changes.isOverfull && changes.linked().isEmpty)
    }

    private func entry(
        _ path: FilePath, _ kind: FileKind = .file, inode: UInt64? = nil, content: String = "", at seconds: Int64 = 0
    ) throws -> Entry {
        let time = Timestamp(seconds: seconds)
        return Entry(
            path: try .at(path), kind: kind, permissions: 0o644, modified: time,
            content: content.isEmpty ? .none : .inline(Array(content.utf8)),
            signature: inode.map { Signature(inode: $0, changed: time) })
    }

    private func renames(_ old: [Entry], _ new: [Entry]) -> [String] {
        var changes = PathChanges()
        for entry in old { changes.add(entry, nil) }
        for entry in new { changes.add(nil, entry) }
        return changes.linked().filter { $0.kind == .removed }.compactMap { change in
            change.other.map { "\(change.path) > \($0)" }
        }
    }

    @Test("a rename is detected by inode, by unique content, or by a directory's entries")
    func renamesAreKnown() throws {
        #expect(
            try renames(
                [entry("a.txt", inode: 5, content: "x", at: 1)], [entry("b.txt", inode: 5, content: "x", at: 1)])
                == ["a.txt > b.txt"])
        #expect(
            try renames([entry("a", content: "x", at: 1)], [entry("b", content: "x", at: 2)]) == ["a > b"],
            "moved by a program that copies")
        #expect(
            try renames(
                [entry("a", content: "x", at: 1)], [entry("b", content: "x", at: 2), entry("c", content: "x", at: 2)])
                == [], "there are two candidates")
        #expect(
            try renames(
                [entry("a.txt", inode: 5, content: "x", at: 1)], [entry("b.log", inode: 5, content: "y", at: 2)])
                == [], "a reused inode")
        #expect(
            try renames([entry("a", inode: 5, at: 1)], [entry("b", inode: 6, at: 2)]) == [],
            "all empty files have the same content"
        )
        let moved = try renames(
            [entry("d", .directory, inode: 1, at: 1), entry("d/f", inode: 2, content: "f", at: 1)],
            [entry("e", .directory, inode: 1, at: 9), entry("e/f", inode: 2, content: "f", at: 1)])
        #expect(moved == ["d > e", "d/f > e/f"], "a directory whose time changed too")
    }
}
