// Random edits, restores, undos and redos, compared with a model that holds full copies of the states.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct UndoModelTests {
    @Test("any sequence of edits, restores, undos and redos agrees with the model", arguments: 0..<4)
    func random(part: UInt64) throws {
        let random = SeededGenerator("undo model, part \(part)")
        var run = try ModelRun(SeededGenerator(seed: random.seed &+ part))
        // One sequence of a thousand undoes hardly anything in its first 80 steps.
        for step in 0..<1000 where step < 80 || run.undone < 5 || run.redone == 0 { try run.step() }
        #expect(run.undone >= 5 && run.redone > 0, "\(run.note): hardly anything was undone")
        try run.sandbox.expectCleanArchive()
    }
}

/// A root, and a model of the states that undo and redo must restore.
private struct ModelRun {
    let sandbox: Sandbox
    private var random: SeededGenerator
    private var edits: RandomEdits
    private var states: [(snapshot: ListedSnapshot, listing: TreeListing)] = []
    /// The state before each operation that can be undone, and its path, the next one last.
    private var undoable: [Pile] = []
    private var redoable: [Pile] = []
    private var log: [String] = []
    private(set) var undone = 0
    private(set) var redone = 0

    private struct Pile {
        let before: TreeListing
        let path: String
    }

    init(_ random: SeededGenerator) throws {
        sandbox = try Sandbox()
        self.random = random
        edits = RandomEdits(sandbox.root, SeededGenerator(seed: random.seed ^ 1))
        for _ in 0..<30 { _ = try edits.edit() }
        states.append((try sandbox.capture(), try present()))
    }

    var note: String { "seed \(random.seed), \(log.suffix(12).joined(separator: "; "))" }

    private func present() throws -> TreeListing { try TreeListing(of: sandbox.root.directory) }

    mutating func step() throws {
        switch random.below(12) {
        case 0, 1:
            for _ in 0...random.below(5) { log.append(try edits.edit()) }
            if random.oneIn(2), let snapshot = try sandbox.archive.capture(sandbox.root.directory).snapshot {
                states.append((snapshot, try present()))
            }
        case 2, 3, 4: try restore()
        case 5, 6, 7, 8: try takeBack(isUndo: true)
        default: try takeBack(isUndo: false)
        }
    }

    private mutating func restore() throws {
        let state = states[random.below(states.count)]
        let paths = state.listing.objects.keys.sorted()
        let path = random.oneIn(2) ? "" : paths[random.below(paths.count)]
        let before = try present()
        log.append("restore \(state.snapshot.id.short):\(path)")
        let options = RestoreOptions(path: try .at(FilePath(path)))
        if before.obstacle(onTheWayTo: path) != nil {
            ArchiverError.expect(.notDirectory) { _ = try sandbox.archive.restore(state.snapshot, options) }
            try present().expect(equals: before, "\(note): refused")
            return
        }
        let result = try sandbox.archive.restore(state.snapshot, options)
        #expect(result.warnings == [], "\(note)")
        try expect(before.replacing(path, from: state.listing), path, before)
        guard result.operation != nil else {
            return try present().expect(equals: before, "\(note): no operation, and yet a change")
        }
        undoable.append(Pile(before: before, path: path))
        redoable = []
    }

    private mutating func takeBack(isUndo: Bool) throws {
        // Reopened each time, as by another process.
        let archive = try sandbox.reopened()
        let root = try #require(try archive.roots().first)
        guard let wanted = isUndo ? undoable.popLast() : redoable.popLast() else {
            ArchiverError.expect(isUndo ? .nothingToUndo : .nothingToRedo) {
                _ = try isUndo ? archive.undo(root) : archive.redo(root)
            }
            return
        }
        let before = try present()
        var path = wanted.before.firstMissing(onTheWayTo: wanted.path)
        if wanted.before.objects[path] != nil { path = before.obstacle(onTheWayTo: path) ?? path }
        log.append((isUndo ? "undo" : "redo") + " at '\(path)'")
        let result = try isUndo ? archive.undo(root)[0] : archive.redo(root)[0]
        #expect(result.restore.warnings == [], "\(note)")
        try expect(before.replacing(path, from: wanted.before), path, before)
        if isUndo {
            redoable.append(Pile(before: before, path: path))
        } else {
            undoable.append(Pile(before: before, path: path))
        }
        // The operation's changes are captured already.
        if random.oneIn(2) {
            let captured = try archive.capture(sandbox.root.directory)
            #expect(captured.snapshot == nil, "\(note): \(captured.changedPaths)")
        }
        if isUndo { undone += 1 } else { redone += 1 }
    }

    /// Expects the root to be `wanted` after the part at `path` was restored, and as `before` elsewhere.
    ///
    /// A file with names inside and outside the part is one file: restoring one name may change the others.
    private func expect(_ wanted: TreeListing, _ path: String, _ before: TreeListing) throws {
        if path.isEmpty {
            try present().expect(equals: wanted, note)
        } else {
            let shared = before.sharedNames(outsideOf: path)
            try present().withoutLinks.without(shared).expect(equals: wanted.withoutLinks.without(shared), note)
        }
    }
}

extension TreeListing {
    /// The listing with the part at `path` from `source`, and the missing directories above it.
    fileprivate func replacing(_ path: String, from source: TreeListing) -> TreeListing {
        if path.isEmpty { return source }
        var listing = without(below: path)
        for (key, object) in source.objects where key == path || key.hasPrefix(path + "/") {
            listing.objects[key] = object
        }
        guard source.objects[path] != nil else { return listing }
        for parent in TreeListing.parents(of: path) where listing.objects[parent] == nil {
            listing.objects[parent] = source.objects[parent]
        }
        return listing
    }

    /// The names outside `path` of files that also have names inside it.
    fileprivate func sharedNames(outsideOf path: String) -> Set<String> {
        func isInside(_ key: String) -> Bool { key == path || key.hasPrefix(path + "/") }
        let files = objects.filter { $0.value.type != S_IFDIR }
        let inside = Set(files.filter { isInside($0.key) }.map { $0.value.firstName ?? $0.key })
        return Set(files.filter { !isInside($0.key) && inside.contains($0.value.firstName ?? $0.key) }.keys)
    }

    fileprivate func without(_ names: Set<String>) -> TreeListing {
        var listing = self
        for name in names { listing.objects[name] = nil }
        return listing
    }

    /// The first missing path on the way to `path`, or `path` itself.
    fileprivate func firstMissing(onTheWayTo path: String) -> String {
        TreeListing.parents(of: path).first { objects[$0] == nil } ?? path
    }

    /// The first path on the way to `path` that is not a directory.
    fileprivate func obstacle(onTheWayTo path: String) -> String? {
        TreeListing.parents(of: path).first { objects[$0].map { $0.type != S_IFDIR } ?? false }
    }

    /// The paths of the directories above `path`, from the root down.
    private static func parents(of path: String) -> [String] {
        path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) }
    }
}
