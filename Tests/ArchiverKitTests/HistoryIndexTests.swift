// The index of paths: commits record the same changes that a comparison of trees and a scan of every path find.

import ArchiveFormat
import ArchiveStorage
import Exclusions
import FileIO
import Glibc
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
            let catalogue = sandbox.archive.store.catalogue
            let unknown = try catalogue.unknownHistory(root: number, limit: .max).filter { unknown in
                try !mayHaveEditedRenames(unknown, sandbox.archive)
            }
            #expect(unknown.isEmpty, "commits record their changes, unless contents must be compared; \(note)")
        }
        for root in roots { try expectTruth(root, sandbox, note) }
    }

    /// Whether files were both removed and added.
    private func mayHaveEditedRenames(_ unknown: UnknownHistory, _ archive: Archive) throws -> Bool {
        guard let before = unknown.predecessor else { return false }
        let (old, new) = (try entries(of: before, archive), try entries(of: unknown.snapshot, archive))
        func files(_ entries: [RelativePath: Entry], without other: [RelativePath: Entry]) -> Bool {
            entries.values.contains { $0.kind == .file && $0.size >= 32 && other[$0.path] == nil }
        }
        return files(old, without: new) && files(new, without: old)
    }

    private func entries(of snapshot: ListedSnapshot, _ archive: Archive) throws -> [RelativePath: Entry] {
        var found: [RelativePath: Entry] = [:]
        try archive.forEachEntry(in: snapshot) { entry in
            found[entry.path] = entry
            return true
        }
        return found
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
        let snapshots = try archive.snapshots(SnapshotQuery(root: root))
        let latest = snapshots.last
        for name in names {
            let versions = try archive.history(of: name.path, in: root, HistoryQuery(followsRenames: false))
            #expect(versions.count == name.versionCount, "\(name.path); \(note.rawValue)")
            #expect(versions.last?.snapshot == name.first && versions.first?.snapshot == name.lastChange, note)
            #expect(versions.first?.kind == name.kind && versions.first?.size == name.size, note)
            // A snapshot captured aside lacks paths that it excludes: only a later one shows their deletion.
            let isGone = versions.first.map { !$0.isPresent } ?? false
            let isShown = snapshots.contains { $0.sequence >= versions.first?.snapshot.sequence ?? 0 && !$0.isAside }
            #expect((isGone && isShown) == name.isDeleted, note)
            #expect(try archive.entry(at: name.path, in: name.lastIn) != nil, note)
            if let deletedIn = name.deletedIn {
                #expect(try archive.entry(at: name.path, in: deletedIn) == nil, note)
                let next = try archive.neighbours(of: name.lastIn, isLater: true, limit: 100).first { !$0.isAside }
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
        var before: (snapshot: ListedSnapshot, entries: [RelativePath: Entry])?
        for snapshot in try archive.snapshots(SnapshotQuery(root: root)) {
            let now = try entries(of: snapshot, archive)
            if let (last, old) = before {
                var changes = PathChanges()
                for path in Set(old.keys).union(now.keys).sorted() { changes.add(old[path], now[path]) }
                let place = HistoryPlace(snapshot)
                let linked = try changes.linked(isNext: snapshot.parent == last.id, contents: archive.store)
                found += try #require(linked).map { PlacedChange(place: place, change: $0) }
                    .sorted { $0.change.path.bytes.lexicographicallyPrecedes($1.change.path.bytes) }
            }
            before = (snapshot, now)
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
        #expect(try !changes.isOverfull && changes.linked(isNext: true, contents: nil)?.count == 2)
        changes.add(nil, try entry("c"))
        #expect(try changes.isOverfull && changes.linked(isNext: true, contents: nil)?.isEmpty ?? false)
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

    /// Returns the renames that are found without reading; nil if contents must be compared.
    private func renames(_ old: [Entry], _ new: [Entry], isNext: Bool = true) throws -> [String]? {
        var changes = PathChanges()
        for entry in old { changes.add(entry, nil) }
        for entry in new { changes.add(nil, entry) }
        return try changes.linked(isNext: isNext, contents: nil)?.filter { $0.kind == .removed }
            .compactMap { change in change.other.map { "\(change.path) > \($0)" } }
    }

    @Test("a rename is detected by equal content, by a directory's entries, or by inode and time without content")
    func renamesAreKnown() throws {
        #expect(
            try renames([entry("a", content: "x", at: 1)], [entry("b", content: "x", at: 2)]) == ["a > b"],
            "moved by a program that copies")
        #expect(
            try renames(
                [entry("a", content: "x", at: 1)], [entry("b", content: "x", at: 2), entry("c", content: "x", at: 2)])
                == [], "there are two candidates")
        #expect(
            try renames([entry("a", inode: 5, at: 1)], [entry("b", inode: 6, at: 1)]) == [],
            "all empty files have the same content")
        #expect(try renames([entry("a", inode: 5, at: 1)], [entry("b", inode: 5, at: 1)]) == ["a > b"])
        #expect(try renames([entry("a", inode: 5, at: 1)], [entry("b", inode: 5, at: 2)]) == [], "a reused inode")
        let moved = try renames(
            [entry("d", .directory, inode: 1, at: 1), entry("d/f", inode: 2, content: "f", at: 1)],
            [entry("e", .directory, inode: 1, at: 9), entry("e/f", inode: 2, content: "f", at: 1)])
        #expect(moved == ["d > e", "d/f > e/f"], "a directory whose time changed too")
        let equal = try renames(
            [
                entry("d", .directory, at: 1), entry("d/1", content: "same"), entry("d/2", content: "same"),
                entry("d/3", content: "other"), entry("d/4", content: "another"),
            ],
            [
                entry("e", .directory, at: 1), entry("e/1", content: "same"), entry("e/2", content: "same"),
                entry("e/3", content: "other"), entry("e/4", content: "another"),
            ])
        #expect(equal == ["d > e", "d/1 > e/1", "d/2 > e/2", "d/3 > e/3", "d/4 > e/4"])
    }

    @Test("an inode chooses among equal files, proves nothing alone, and nothing at all across a missing snapshot")
    func inodes() throws {
        #expect(
            try renames(
                [entry("a.txt", inode: 5, content: "x", at: 1)], [entry("b.txt", inode: 5, content: "y", at: 2)]) == [],
            "a reused inode")
        #expect(
            try renames(
                [entry("p1", inode: 1, content: "one"), entry("p2", inode: 2, content: "two")],
                [entry("q1", inode: 2, content: "one"), entry("q2", inode: 3, content: "two")])
                == ["p1 > q1", "p2 > q2"], "each copy got the inode of the file removed before it")
        let twins = try [entry("a", inode: 1, content: "x"), entry("b", inode: 2, content: "x")]
        let moved = try [entry("c", inode: 2, content: "x"), entry("d", inode: 1, content: "x")]
        #expect(try renames(twins, moved) == ["a > d", "b > c"])
        #expect(try renames(twins, moved, isNext: false) == [])
        #expect(
            try renames([entry("d", .directory, inode: 1)], [entry("e", .directory, inode: 1)], isNext: false) == [])
        let line = String(repeating: "a line of text\n", count: 4)
        #expect(
            try renames([entry("a", inode: 1, content: line)], [entry("b", inode: 1, content: line + "z")]) == nil,
            "a commit leaves the comparison of contents to the first query")
    }

    @Test("a renamed and edited file keeps at least half of its lines or chunks; the most alike one wins")
    func editedRenames() throws {
        let sandbox = try Sandbox()
        func text(_ words: [String]) -> String {
            words.map { "this line is about \($0) and nothing else\n" }.joined()
        }
        let words = (0..<40).map { "word\($0)" }
        var random = SeededGenerator(seed: 7)
        let large = (0..<(3 << 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try sandbox.root.write("half", text(words))
        try sandbox.root.write("less", text(words.map { $0 + "-less" }))
        try sandbox.root.write("more", text(words.map { $0 + "-more" }))
        try sandbox.root.write("large", large)
        let first = try sandbox.capture()
        for name in ["half", "less", "more", "large"] { try sandbox.root.remove(FilePath(name)) }
        // Of two candidates, the one with more common lines is the new name.
        try sandbox.root.write("half-1", text(Array(words.prefix(25)) + (0..<15).map { "new\($0)" }))
        try sandbox.root.write("half-2", text(Array(words.prefix(30)) + (0..<10).map { "other\($0)" }))
        try sandbox.root.write(
            "less-1", text(words.prefix(10).map { $0 + "-less" } + (0..<30).map { "less\($0)" }))
        try sandbox.root.write("more-1", text(words.prefix(22).map { $0 + "-more" } + (0..<18).map { "more\($0)" }))
        try sandbox.root.write("large-1", Array(large.prefix(2 << 20)) + Array(large.prefix(1 << 19).reversed()))
        let second = try sandbox.capture()
        let root = try #require(try sandbox.archive.roots().first)
        #expect(try sandbox.archive.unknownHistoryCount(of: root) == 1)
        let changes = try sandbox.archive.changes(in: root, after: first, through: second)[0].changes
        let renamed = changes.filter { $0.change == .renamed }.map { "\($0.otherPath ?? .root) > \($0.path)" }
        #expect(renamed == ["half > half-2", "large > large-1", "more > more-1"])
        #expect(try sandbox.archive.deletedPaths(in: root).map(\.path) == [.at("less")])
        #expect(try sandbox.archive.history(of: .at("half-2"), in: root).map(\.path) == [.at("half-2"), .at("half")])
    }

    @Test("a file that gets the inode of a deleted one is no rename, and the deleted one is restored")
    func reusedInode() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("chapter1.md", "the first chapter, which was deleted\n")
        let first = try sandbox.capture()
        let inode = try sandbox.root.status("chapter1.md").st_ino
        try sandbox.root.remove("chapter1.md")
        // ext4 gives a free inode to the next new file; on other file systems this tests less.
        for attempt in 0..<8 {
            let name = FilePath("chapter\(attempt + 2).md")
            try sandbox.root.write(name, "another chapter, of which nothing was there\n")
            if try sandbox.root.status(name).st_ino == inode { break }
        }
        try sandbox.capture()
        let root = try #require(try sandbox.archive.roots().first)
        let deleted = try sandbox.archive.deletedPaths(in: root)
        #expect(try deleted.map(\.path) == [.at("chapter1.md")] && deleted.first?.lastIn.id == first.id)
        #expect(try sandbox.archive.history(of: .at("chapter2.md"), in: root).count == 1)
    }
}
