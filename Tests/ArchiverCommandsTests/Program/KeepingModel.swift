// A model of an archive that several processes change: plain copies of the captured trees.

import ArchiveFormat
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A few roots, one archive, and a copy of every tree that was captured.
final class KeepingModel {
    struct Kept {
        var id: String
        let root: Int
        /// The time, which stays the same when the id changes.
        let time: String
        let copy: FilePath
        var isPinned = false
        var label: String?
        var isForgotten = false
        /// Whether space was reclaimed after it was forgotten.
        var mayBeGone = false
    }

    /// The possible and the certain effects of the processes of one step; snapshots are given by their ids.
    struct Effects {
        var captured: [Int: FilePath] = [:]
        var announced: Set<String> = []
        var mayVanish: Set<String> = []
        var vanish: Set<String> = []
        var mayReturn: Set<String> = []
        var returned: Set<String> = []
        /// Snapshots whose pins and labels are unknown and taken from the list.
        var unsure: Set<String> = []
        var gaveSpaceBack = false
    }

    /// A pin or a label of a snapshot.
    enum Mark {
        case pinned(Bool)
        case label(String?)
    }

    static let roots = 3

    let place: Workplace
    var kept: [Kept] = []
    /// The roots for which a policy was set.
    var thinned: Set<Int> = []
    private var copies = 0
    /// The bytes of purged files, which must be in no file of the archive.
    private var purged: [[UInt8]] = []

    init(segmentBytes: Int, _ random: inout SeededGenerator) throws {
        place = try Workplace()
        for root in 0..<KeepingModel.roots {
            try FileManager.default.createDirectory(
                atPath: tree(root).string, withIntermediateDirectories: true)
            try edit(root, &random)
            let copy = try copyTree(root)
            #expect(try place.run("capture", tree(root).string).status == 0)
            try check(Effects(captured: [root: copy]), "the first capture")
        }
        let manifest = place.archive.appending("archive.json").string
        let file = URL(filePath: manifest)
        let old = Array(try Data(contentsOf: file))
        try Data(ArchiveManifest(decoding: old, segmentBytes: segmentBytes).encoded()).write(to: file)
    }

    func tree(_ root: Int) -> FilePath { place.path("roots/\(root)") }

    var listed: [Kept] { kept.filter { !$0.isForgotten } }

    /// The newest snapshot of a root, which no command of the test forgets.
    func newest(of root: Int) -> String? { listed.filter { $0.root == root }.max { $0.time < $1.time }?.id }

    /// Expects the snapshot to have `mark` from now on.
    func expect(_ id: String, _ mark: Mark?) {
        guard let index = kept.firstIndex(where: { $0.id == id }) else { return }
        switch mark {
        case .pinned(let isPinned): kept[index].isPinned = isPinned
        case .label(let label): kept[index].label = label
        case nil: break
        }
    }

    // MARK: Trees

    /// Changes a few entries in a root; no content is written twice.
    func edit(_ root: Int, _ random: inout SeededGenerator) throws {
        for _ in 0...random.below(4) {
            let directory = tree(root).appending("d\(random.below(3))").string
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let name = "\(directory)/f\(random.below(4))"
            switch random.below(8) {
            case 0: unlink(name)
            case 1: try FileManager.default.removeItem(atPath: directory)
            case 2: try Data(random.text(3000) + random.noise(20)).write(to: URL(fileURLWithPath: name + ".text"))
            case 3:
                unlink(name)
                symlink("target \(random.next())", name)
            default:
                unlink(name)
                try Data(random.noise(200 + random.below(3000))).write(to: URL(fileURLWithPath: name))
            }
        }
    }

    /// Copies a root as it is now.
    func copyTree(_ root: Int) throws -> FilePath {
        copies += 1
        try place.copyTree(to: "copy-\(copies)", from: tree(root))
        return place.path("copy-\(copies)")
    }

    /// A file that some listed snapshot of `root` has, by its path in the root.
    func someFile(of root: Int, _ random: inout SeededGenerator) -> String? {
        let names = Set(
            listed.filter { $0.root == root }.flatMap { kept in
                FileManager.default.enumerator(atPath: kept.copy.string)?.compactMap { $0 as? String } ?? []
            }
        ).filter { $0.contains("/f") }.sorted()
        return names.isEmpty ? nil : names[random.below(names.count)]
    }

    // MARK: Expectations

    /// Compares the archive with the model after a step, and updates the model with the step's effects.
    func check(_ effects: Effects, _ comment: String) throws {
        let outcome = try place.run("list", "--all", "--json")
        #expect(outcome.status == 0, "\(comment): \(outcome.errorText)")
        var rows: [String: [String: Any]] = [:]
        for row in try JSON.array(outcome.output) { rows[try #require(row["id"] as? String)] = row }
        #expect(effects.announced.isSubset(of: rows.keys), "\(comment)")
        for index in kept.indices { try check(&kept[index], rows[kept[index].id], effects, comment) }
        let known = Set(kept.map(\.id))
        var captured = effects.captured
        for (id, row) in rows where !known.contains(id) {
            let root = try #require(try self.root(of: row), "\(comment)")
            let found = captured.removeValue(forKey: root)
            let copy = try #require(found, "\(comment): \(id) comes from nowhere")
            kept.append(Kept(id: id, root: root, time: try #require(row["time"] as? String), copy: copy))
        }
        try expectRestored(comment)
        try expectPurged(comment)
    }

    private func check(
        _ kept: inout Kept, _ row: [String: Any]?, _ effects: Effects, _ comment: String
    ) throws {
        let note: Comment = "\(comment): \(kept)"
        if let row {
            #expect(!effects.vanish.contains(kept.id), note)
            if kept.isForgotten { #expect(effects.mayReturn.union(effects.returned).contains(kept.id), note) }
            kept.isForgotten = false
            kept.mayBeGone = false
            let found = (isPinned: row["pinned"] as? Bool ?? false, label: row["label"] as? String)
            if !effects.unsure.contains(kept.id) {
                #expect(found.isPinned == kept.isPinned && found.label == kept.label, note)
            }
            (kept.isPinned, kept.label) = found
        } else {
            #expect(!effects.returned.contains(kept.id), note)
            if !kept.isForgotten { #expect(effects.mayVanish.union(effects.vanish).contains(kept.id), note) }
            kept.isForgotten = true
            if effects.gaveSpaceBack { kept.mayBeGone = true }
        }
    }

    private func root(of row: [String: Any]) throws -> Int? {
        let path = try #require(row["root"] as? String)
        return (0..<KeepingModel.roots).first { path.hasSuffix("/roots/\($0)") }
    }

    private func expectRestored(_ comment: String) throws {
        for kept in listed {
            let target = place.path("out")
            let outcome = try place.run("restore", kept.id, "--root", tree(kept.root).string, "--target", target.string)
            #expect(outcome.status == 0, "\(comment): \(kept): \(outcome.errorText)")
            let difference = try place.difference(of: target, and: kept.copy.lastComponent?.string ?? "")
            #expect(difference == "", "\(comment): \(kept)")
            try place.remove("out")
        }
    }

    /// Expects `check --data` to find no damage.
    func expectWhole(_ comment: String) throws {
        let outcome = try place.run("check", "--data")
        #expect(outcome.status == 0, "\(comment): \(outcome.text)\(outcome.errorText)")
    }

    /// Removes the catalogue; no process must have the archive open.
    func removeCatalogue() {
        for suffix in ["", "-wal", "-shm"] { unlink(place.archive.appending("catalogue.sqlite").string + suffix) }
    }

    // MARK: Purging

    /// Records that `path` was purged from `root`, and finds the new ids of rewritten snapshots.
    func purge(_ path: String, of root: Int, _ comment: String) throws {
        kept.removeAll { kept in
            var status = stat()
            // A dangling link exists, too.
            return kept.isForgotten && kept.root == root && lstat(kept.copy.string + "/" + path, &status) == 0
        }
        for kept in kept where kept.root == root { unlink(kept.copy.string + "/" + path) }
        // A forgotten snapshot may list the file's removal among its changes.
        for index in kept.indices where kept[index].root == root && kept[index].isForgotten {
            kept[index].mayBeGone = true
        }
        var ids: [String: String] = [:]
        for row in try JSON.array(place.run("list", "--all", "--json").output) {
            guard try self.root(of: row) == root, let time = row["time"] as? String else { continue }
            #expect(ids.updateValue(try #require(row["id"] as? String), forKey: time) == nil, "\(comment): twice")
        }
        for index in kept.indices where kept[index].root == root && !kept[index].isForgotten {
            kept[index].id = try #require(ids[kept[index].time], "\(comment): \(kept[index])")
        }
    }

    /// Bytes of a file's versions that occur nowhere else.
    func marks(of path: String, in root: Int) -> [[UInt8]] {
        kept.filter { $0.root == root }.compactMap { kept in
            let name = kept.copy.string + "/" + path
            guard !path.hasSuffix(".text"), (try? FileManager.default.destinationOfSymbolicLink(atPath: name)) == nil,
                let bytes = FileManager.default.contents(atPath: name)
            else { return nil }
            return Array(bytes[100..<140])
        }
    }

    /// Expects `marks` to be in no file of the archive from now on.
    func expectGone(_ marks: [[UInt8]]) { purged += marks }

    private func expectPurged(_ comment: String) throws {
        if purged.isEmpty { return }
        let files = FileManager.default.enumerator(atPath: place.archive.string)?.compactMap { $0 as? String } ?? []
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: place.archive.string + "/" + file) else { continue }
            for mark in purged { #expect(bytes.firstRange(of: mark) == nil, "\(comment): in \(file)") }
        }
    }
}
