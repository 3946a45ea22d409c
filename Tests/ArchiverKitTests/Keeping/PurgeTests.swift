// Purging: no byte of the target is left in the archive, and everything else stays.

import ArchiveFormat
import FileIO
import Foundation
import Glibc
import SnapshotTree
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import ArchiveStorage
@testable import ArchiverKit

@Suite("Purging", .timeLimit(.minutes(60)), .blocking) struct PurgeTests {
    /// A history in which a secret appears, changes and disappears, with each snapshot's expected tree after the purge.
    private final class Scene {
        let prune: PruneScene
        /// The archive to purge: a copy that no process has open.
        let place: FilePath
        var root: ArchivedRoot { ArchivedRoot(here: prune.root.directory) }
        /// Every version of the secret.
        private(set) var secrets: [[UInt8]] = []
        /// The expected trees by time, which purging does not change.
        private(set) var wanted: [Timestamp: TreeListing] = [:]
        private(set) var with: [ListedSnapshot] = []
        private(set) var without: [ListedSnapshot] = []

        static let name: FilePath = "hidden/s3cr3t-n4me"

        init(_ random: inout SeededGenerator, versions: Int = 24, segmentBytes: Int = 40_000) throws {
            prune = try PruneScene(segmentBytes: segmentBytes)
            place = prune.sandbox.base.directory.appending("purged")
            var lines = (0..<400).map { "line \($0) \(random.below(1 << 30))" }
            var secret = random.noise(3000)
            try prune.root.makeDirectory("hidden")
            for version in 0..<versions {
                for _ in 0..<4 { lines[random.below(lines.count)] = "in \(version): \(random.below(1 << 30))" }
                try prune.root.write("document", lines.joined(separator: "\n"))
                try prune.root.write("hidden/other", "\(version)")
                let isThere = (versions / 3..<versions * 2 / 3).contains(version)
                if isThere {
                    secret.replaceSubrange(100..<200, with: random.noise(100))
                    secrets.append(secret)
                    try prune.root.write(Scene.name, secret)
                    try prune.root.setAttribute(Scene.name, "user.copy", Array(secret[..<1100]))
                } else if prune.root.exists(Scene.name) {
                    try prune.root.remove(Scene.name)
                }
                try keep(try prune.capture(), isThere)
            }
        }

        private func keep(_ snapshot: ListedSnapshot, _ hasSecret: Bool) throws {
            var listing = try TreeListing(of: prune.root.directory)
            listing.objects[Scene.name.string] = nil
            wanted[snapshot.time] = listing
            if hasSecret { with.append(snapshot) } else { without.append(snapshot) }
        }

        /// Purges the copy while no other process uses it.
        func purge(
            _ target: PurgeTarget? = nil, isCancelled: @escaping @Sendable () -> Bool = { false }
        ) throws(ArchiverError) -> PurgeResult {
            if !Files("/").exists(place) { copy() }
            let name = RelativePath(unchecked: Scene.name.bytes)
            return try Archive.purge(target ?? .paths([name], of: root), in: place, isCancelled: isCancelled)
        }

        /// Copies the archive again.
        func copy() {
            prune.archive.store.releaseWriters()
            _ = system("rm -rf '\(place)'; cp -a '\(prune.archive.directory)' '\(place)'")
        }

        /// Expects each snapshot to be unchanged except for the secret.
        func expectWhole(_ note: Comment = "") throws {
            let archive = try Archive.open(place)
            let snapshots = try archive.snapshots()
            #expect(Set(snapshots.map(\.time)) == Set(wanted.keys), note)
            #expect(snapshots.count == wanted.count, note)
            for snapshot in snapshots {
                let target = prune.sandbox.base.directory.appending("restored")
                _ = try archive.restore(snapshot, RestoreOptions(target: target))
                try TreeListing(of: target).expect(equals: #require(wanted[snapshot.time]), "\(snapshot.id) \(note)")
                try Files(target).removeAll()
            }
            let check = try archive.check(data: true)
            #expect(check.findings == [], note)
        }

        /// Returns the files in and below a directory.
        static func files(in directory: FilePath) -> [FilePath] {
            let found = FileManager.default.enumerator(atPath: directory.string)?.compactMap { $0 as? String } ?? []
            return found.map { directory.appending($0) }.filter { path in
                (try? Files("/").status(path)).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
            }
        }

        /// Expects no file of the archive to contain the secret, packed or not.
        func expectNoTrace(_ note: Comment = "") throws {
            var needles = secrets.map { Array($0[100..<140]) }
            needles.append(Array(Scene.name.bytes.dropFirst(7)))
            needles.append(Array(try #require(secrets.first)[1000..<1040]))
            for file in Scene.files(in: place) where !file.string.contains("/certificates/") {
                let bytes = try Files("/").read(file)
                for needle in needles { #expect(bytes.firstRange(of: needle) == nil, "\(file) \(note.rawValue)") }
            }
            let store = try Archive.open(place).store
            for segment in try store.catalogue.segments() {
                let file = try store.open(segment)
                let scan = try SegmentScan(
                    of: file, from: SegmentHeader.byteCount, verifyingPayloads: true, passingDamage: true)
                for (id, offset) in scan.chunks {
                    let place = BlockLocation(segment: segment.number, offset: offset)
                    let bytes = try store.read(id, at: place)
                    for needle in needles { #expect(bytes.firstRange(of: needle) == nil, "\(file.path) \(note)") }
                }
            }
        }
    }

    @Test("a purged path leaves no byte in the archive; snapshots stay without it, and others keep their ids")
    func paths() throws {
        var random = SeededGenerator("purged paths")
        let scene = try Scene(&random)
        // The catalogue remembers the names that a survey of the space met.
        _ = try scene.prune.archive.usage()
        let plan = try scene.prune.archive.plannedPurge(of: .paths([.at(Scene.name)], of: scene.root))
        let before = try scene.prune.segments()
        #expect(plan.isDryRun && plan.names.map(\.snapshots) == [scene.with.count])
        #expect(try scene.prune.segments() == before, "a plan changes nothing")
        let result = try scene.purge()
        #expect(result.isComplete, "\(result.verification?.findings ?? [])")
        #expect(result.names.map(\.path) == [try .at(Scene.name)])
        // The snapshot after the last one with the secret lists its removal.
        #expect(result.replaced.count == scene.with.count + 1 && result.replaced.count == plan.replaced.count)
        try scene.expectNoTrace()
        try scene.expectWhole()
        let listed = Set(try Archive.open(scene.place).snapshots().map(\.id))
        #expect(scene.without.count { !listed.contains($0.id) } == 1)
        #expect(scene.with.allSatisfy { !listed.contains($0.id) })
        let certificate = try #require(result.certificate)
        let text = String(decoding: try Files("/").read(certificate), as: UTF8.self)
        #expect(text.contains(Scene.name.string) && text.contains("\"findings\" : ["))
        ArchiverError.expect(.noSuchPath) { _ = try scene.purge() }
    }

    @Test("directories, patterns and contents can be purged", arguments: ["directory", "pattern", "content"])
    func targets(kind: String) throws {
        var random = SeededGenerator("purged targets")
        let scene = try Scene(&random)
        let root = scene.root
        switch kind {
        case "directory":
            _ = try scene.purge(.paths([.at("hidden")], of: root))
            for snapshot in try Archive.open(scene.place).snapshots() {
                let names = try Archive.open(scene.place).entries(matching: Array("*".utf8), in: snapshot)
                #expect(names.map(\.path.description) == ["document"])
            }
            try scene.expectNoTrace()
        case "pattern":
            #expect(try scene.purge(.pattern(Array("*s3cr3t*".utf8), of: root)).isComplete)
            try scene.expectNoTrace()
            try scene.expectWhole()
        default:
            // The content also has another name in another root, and is a saved state.
            let secret = try #require(scene.secrets.first)
            let file = scene.prune.sandbox.base.full("leaked")
            try Files("/").write(file, secret)
            try scene.prune.sandbox.base.makeDirectory("elsewhere")
            let elsewhere = Files(scene.prune.sandbox.base.full("elsewhere"))
            try elsewhere.write("copy", secret)
            try elsewhere.write("more", "more")
            _ = try scene.prune.archive.capture(elsewhere.directory)
            let result = try scene.purge(.content(of: file))
            #expect(result.isComplete, "\(result.verification?.findings ?? [])")
            #expect(result.names.map(\.path.description) == ["copy", Scene.name.string])
            let archive = try Archive.open(scene.place)
            let id = ChunkID(hashing: secret)
            #expect(try archive.store.catalogue.location(of: id) == nil)
            let latest = try archive.snapshot(.latest, of: ArchivedRoot(here: elsewhere.directory))
            #expect(try archive.entries(matching: Array("*".utf8), in: latest).map(\.path.description) == ["more"])
            #expect(try archive.check(data: true).findings == [])
        }
    }

    /// The list of changes does not say that the removed name was a directory's, and the snapshot before is forgotten.
    @Test("the name of a removed directory is purged from lists of changes, the name of a present file is not")
    func removedDirectory() throws {
        var random = SeededGenerator("removed directories purged")
        let scene = try Scene(&random, versions: 3)
        let root = scene.prune.root
        try root.makeDirectory("s3cr3t-d1r")
        let first = try scene.prune.capture()
        _ = rmdir(root.full("s3cr3t-d1r").string)
        try root.write("plain", "1")
        let second = try scene.prune.capture()
        try scene.prune.archive.forget([.snapshot(first)])
        scene.copy()
        ArchiverError.expect(.noSuchPath) { _ = try scene.purge(.pattern(Array("plain/".utf8), of: scene.root)) }

        let result = try scene.purge(.pattern(Array("*d1r/".utf8), of: scene.root))
        #expect(result.isComplete, "\(result.verification?.findings ?? [])")
        #expect(result.forgotten == 1 && Array(result.replaced.keys) == [second.id])
        let archive = try Archive.open(scene.place)
        let replacement = try archive.store.snapshot(try #require(result.replaced[second.id]))
        #expect(replacement.changedPaths.map(\.path.description) == ["plain"])
        #expect(replacement.changes.added == 1)
        for file in Scene.files(in: scene.place) where !file.string.contains("/certificates/") {
            let bytes = try Files("/").read(file)
            #expect(bytes.firstRange(of: Array("s3cr3t-d1r".utf8)) == nil, "\(file)")
        }
    }

    @Test("labels, pins, notes, marks and undoable operations move to the replacing snapshots")
    func records() throws {
        var random = SeededGenerator("records of what is purged")
        let scene = try Scene(&random)
        let archive = scene.prune.archive
        let (first, second) = (scene.with[1], scene.with[3])
        try archive.label(.snapshot(first), as: "before the talk")
        try archive.pin(.snapshot(second), reason: "printed")
        try archive.note("with the secret", about: scene.root, snapshot: second.id)
        let mark = try archive.store.enter(
            OperationRecord(
                rootPath: scene.root.path.bytes, host: scene.root.host, kind: .mark, time: .now, before: first.id,
                machine: scene.root.machine, name: "turn"))
        let result = try archive.restore(first, RestoreOptions())
        #expect(result.operation != nil)
        try scene.prune.reopen(withNewCatalogue: false)
        let purged = try scene.purge()
        #expect(purged.isComplete)
        let cleaned = try Archive.open(scene.place)
        let (newFirst, newSecond) = (
            try #require(purged.replaced[first.id]), try #require(purged.replaced[second.id])
        )
        #expect(try cleaned.snapshot(SnapshotSelector("before the talk"), of: scene.root).id == newFirst)
        #expect(try Set(cleaned.store.catalogue.pins().keys) == [newSecond.chunk])
        #expect(try cleaned.notes().map(\.snapshot) == [newSecond])
        let operations = try cleaned.store.catalogue.operations()
        #expect(operations.contains { $0.record.kind == .mark && $0.record.before == newFirst && $0.id != mark })
        let restores = operations.filter { $0.record.kind == .restore }
        #expect(restores.map(\.record.snapshot) == [newFirst])
        #expect(operations.count { $0.record.kind == .completion } == 1)
        try scene.expectNoTrace()
        // The root still has the file, so the next capture captures it again.
        #expect(purged.stillThere == [scene.prune.root.full(Scene.name)])
        _ = try cleaned.undo(scene.root)
    }

    @Test("forgotten snapshots with the target are removed, and others can still be brought back")
    func forgotten() throws {
        var random = SeededGenerator("forgotten and purged")
        let scene = try Scene(&random)
        let archive = scene.prune.archive
        try archive.forget([.snapshot(scene.with[2]), .snapshot(scene.without[2])])
        #expect(try scene.purge().forgotten == 1)
        try scene.expectNoTrace()
        let cleaned = try Archive.open(scene.place)
        let left = try cleaned.forgotten()
        #expect(left.map(\.id) == [scene.without[2].id.chunk])
        try cleaned.unforget(left)
        #expect(try cleaned.check(data: true).findings == [])
    }

    @Test("a purge removes a large file in many slices, and what was salvaged from damaged segments")
    func large() throws {
        var random = SeededGenerator("a large file purged")
        let scene = try Scene(&random, versions: 6)
        let large = random.noise(3 << 20)
        try scene.prune.root.write("large", large)
        try scene.prune.capture()
        try scene.prune.root.remove("large")
        try scene.prune.root.write("after", "after")
        try scene.prune.capture()
        scene.copy()
        let files = Files(scene.place)
        try files.makeDirectory("salvage")
        try files.write("salvage/piece", Array(large[..<1000]))
        let result = try scene.purge(.paths([.at("large")], of: scene.root))
        #expect(result.isComplete && result.bytesAfter + UInt64(large.count) / 2 < result.bytesBefore)
        for file in Scene.files(in: scene.place) {
            #expect(try Files("/").read(file).firstRange(of: large[100..<140]) == nil, "\(file)")
        }
    }

    @Test("after a cancellation at any moment, the same purge does the rest, and nothing else is lost")
    func interrupted() throws {
        var random = SeededGenerator("interrupted purges")
        let scene = try Scene(&random, versions: 9)
        var step = 1
        while step < 10_000 {
            scene.copy()
            let left = Locked(step)
            do throws(ArchiverError) {
                _ = try scene.purge(isCancelled: {
                    left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                })
                break
            } catch {
                #expect(error.code == .cancelled)
            }
            #expect(try Archive.open(scene.place).check(data: true).findings == [], "ended at \(step)")
            #expect(try scene.purge().isComplete, "ended at \(step)")
            try scene.expectNoTrace("ended at \(step)")
            try scene.expectWhole("ended at \(step)")
            step += 1 + (isThorough ? step / 4 : step)
        }
        #expect(step > 10)
    }

    @Test("a purge of another target also finishes a cancelled one, and brings nothing back")
    func otherTarget() throws {
        var random = SeededGenerator("purges after others")
        let scene = try Scene(&random, versions: 9)
        var (step, met, early) = (1, 0, 0)
        while step < 10_000, met < 3 {
            scene.copy()
            let left = Locked(step)
            _ = try? scene.purge(isCancelled: {
                left.withLock { left in
                    left -= 1
                    return left < 0
                }
            })
            let forgotten = try Archive.open(scene.place).store.catalogue.forgotten()
            if left.withLock({ $0 }) < 0, forgotten.contains(where: { $0.reason == .purged }) {
                #expect(try scene.purge(.paths([.at("hidden/other")], of: scene.root)).isComplete)
                // A purge that had not replaced every snapshot is still unfinished: it knows what is left to replace.
                if try Archive.open(scene.place).store.findings.contains(where: { $0.kind == .unfinishedPurge }) {
                    early += 1
                    #expect(try scene.purge().isComplete)
                } else {
                    met += 1
                }
                #expect(try !Archive.open(scene.place).store.findings.contains { $0.kind == .unfinishedPurge })
                try scene.expectNoTrace("ended at \(step)")
                #expect(try Archive.open(scene.place).snapshots().count == scene.wanted.count)
            }
            step += 1 + step / 4
        }
        #expect(met > 0 && early > 0)
    }

    /// Makes two snapshots that share the nodes of a directory, which is then deleted.
    ///
    /// The record of the second is in a segment that is almost entirely needed: a prune removes the nodes but leaves
    /// the record.
    private func makeShared(_ scene: Scene, _ random: inout SeededGenerator) throws -> [ListedSnapshot] {
        let root = scene.prune.root
        for number in 0..<2000 { try root.write(FilePath("hidden/file\(number)"), "\(number)") }
        try root.write(Scene.name, random.noise(150_000))
        let first = try scene.prune.capture()
        try root.write("zzz", random.noise(500_000))
        let second = try scene.prune.capture()
        try FileManager.default.removeItem(atPath: root.full("hidden").string)
        try root.write("zzz2", random.noise(150_000))
        try scene.prune.capture()
        return [first, second]
    }

    /// Prunes the copy, and returns whether some of the snapshots `ids` are still there but incomplete.
    private func pruneInPart(_ scene: Scene, _ ids: [ChunkID]) throws -> Bool {
        let archive = try Archive.open(scene.place)
        _ = try archive.prune(grace: .zero)
        let left = try ids.filter { try archive.store.catalogue.location(of: $0) != nil }
        let broken = try left.filter { id in
            let tree = try archive.store.snapshot(SnapshotID(id)).tree
            do {
                try Tree(tree, in: StoredNodes(archive.store)).forEach { (_) throws(StorageError) in true }
                return false
            } catch { return true }
        }
        return !broken.isEmpty
    }

    @Test("a cancelled purge continues after a prune has removed a part of the replaced snapshots")
    func prunedMeanwhile() throws {
        var random = SeededGenerator("purges and prunes")
        // The ends of segments vary between runs.
        for _ in 0..<10 where try goOn(&random) { return }
        Issue.record("no prune took a part")
    }

    /// Cancels a purge, prunes and purges again; returns whether the prune removed a part of a replaced snapshot.
    private func goOn(_ random: inout SeededGenerator) throws -> Bool {
        let scene = try Scene(&random, versions: 3, segmentBytes: 400_000)
        let shared = try makeShared(scene, &random)
        let target = PurgeTarget.paths([try .at("hidden")], of: scene.root)
        let result = try scene.prune.archive.restore(shared[1], RestoreOptions())
        #expect(result.operation != nil)
        try scene.prune.reopen(withNewCatalogue: false)
        let count = try scene.prune.archive.snapshots().count
        var (step, replaced): (Int, [ChunkID]) = (0, [])
        // Until every snapshot is replaced, but nothing is removed.
        let planned = try scene.prune.archive.plannedPurge(of: target).replaced.count
        while replaced.count < planned {
            step += 1
            scene.copy()
            let left = Locked(step)
            ArchiverError.expect(.cancelled) {
                _ = try scene.purge(
                    target,
                    isCancelled: {
                        left.withLock { left in
                            left -= 1
                            return left < 0
                        }
                    })
            }
            replaced = try Archive.open(scene.place).store.catalogue.forgotten().map(\.id)
        }
        let isMet = try pruneInPart(scene, replaced)
        let purged = try scene.purge(target)
        #expect(purged.isComplete, "\(purged.verification?.findings ?? [])")
        #expect(Set(purged.replaced.keys).isSuperset(of: replaced.map { SnapshotID($0) }))
        #expect(purged.earlier == replaced.count)
        try scene.expectNoTrace()
        let cleaned = try Archive.open(scene.place)
        #expect(try cleaned.snapshots().count == count)
        let restores = try cleaned.store.catalogue.operations().filter { $0.record.kind == .restore }
        #expect(restores.map(\.record.snapshot) == [purged.replaced[shared[1].id]])
        #expect(try cleaned.check(data: true).findings == [])
        return isMet
    }

    @Test("partly pruned forgotten snapshots neither stop a purge nor count as its target")
    func lostInPart() throws {
        var random = SeededGenerator("purges and lost parts")
        let scene = try Scene(&random, versions: 3, segmentBytes: 400_000)
        let shared = try makeShared(scene, &random)
        let target = PurgeTarget.paths([try .at("hidden")], of: scene.root)
        try scene.prune.archive.forget(shared.map { .snapshot($0) })
        scene.copy()
        #expect(try pruneInPart(scene, shared.map(\.id.chunk)))
        ArchiverError.expect(.noSuchPath) {
            _ = try scene.purge(.paths([RelativePath(unchecked: Array("never".utf8))], of: scene.root))
        }
        let result = try scene.purge(target)
        #expect(result.isComplete)
        try scene.expectNoTrace()
        let archive = try Archive.open(scene.place)
        for snapshot in shared { #expect(try archive.store.catalogue.location(of: snapshot.id.chunk) == nil) }
    }

    @Test("a prune removes snapshots that a purge has replaced, without grace")
    func pruneAfterPurge() throws {
        var random = SeededGenerator("prunes after purges")
        let scene = try Scene(&random, versions: 9)
        let replaced = Set(scene.with.map(\.id.chunk))
        try scene.prune.archive.store.forget(replaced, reason: .purged)
        _ = try scene.prune.archive.prune()
        for id in replaced { #expect(try scene.prune.archive.store.catalogue.location(of: id) == nil) }
    }

    @Test("the same purge removes the files that a late kill left behind")
    func leftFiles() throws {
        var random = SeededGenerator("files that purges leave")
        let scene = try Scene(&random, versions: 9)
        scene.copy()
        let before = try Files(scene.place).segments().map { ($0, try Files("/").read($0)) }
        #expect(try scene.purge().isComplete)
        let mark = scene.place.appending("certificates").appending("unfinished")
        #expect(!Files("/").exists(mark))
        // As after a SIGKILL between the record that segments are dropped and the removal of their files.
        let gone = before.filter { !Files("/").exists($0.0) }
        #expect(!gone.isEmpty)
        for (path, bytes) in gone { try Files("/").write(path, bytes) }
        mkdir(scene.place.appending("salvage").string, 0o700)
        try Files(scene.place).write("salvage/rest", scene.secrets[0])
        try Files("/").write(mark, [])
        #expect(try scene.purge().isComplete)
        for (path, _) in gone { #expect(!Files("/").exists(path)) }
        #expect(!Files("/").exists(mark))
        try scene.expectNoTrace()
        try scene.expectWhole()
        ArchiverError.expect(.noSuchPath) { _ = try scene.purge() }
    }

    @Test("invalid targets and an archive in use are refused")
    func refused() throws {
        var random = SeededGenerator("refused purges")
        let scene = try Scene(&random, versions: 3)
        scene.copy()
        let root = scene.root
        ArchiverError.expect(.noSuchPath) { _ = try scene.purge(.paths([.root], of: root)) }
        ArchiverError.expect(.noSuchPath) {
            _ = try scene.purge(.paths([RelativePath(unchecked: Array("never".utf8))], of: root))
        }
        // The name is that of a file, not of a directory.
        ArchiverError.expect(.noSuchPath) { _ = try scene.purge(.pattern(Array("other/".utf8), of: root)) }
        ArchiverError.expect(.unsuitableSettings) { _ = try scene.purge(.pattern([], of: root)) }
        let empty = scene.prune.sandbox.base.full("empty")
        try Files("/").write(empty, [])
        ArchiverError.expect(.unsuitableSettings) { _ = try scene.purge(.content(of: empty)) }
        let other = try Archive.open(scene.place)
        ArchiverError.expect(.inUse) { _ = try scene.purge() }
        withExtendedLifetime(other) {}
    }

    @Test("a text is purged from labels, notes, marks, runs, pins and saved states, and from every byte")
    func text() throws {
        var random = SeededGenerator("purged texts")
        let scene = try Scene(&random, versions: 5)
        let archive = scene.prune.archive
        let snapshots = scene.with + scene.without
        let captured = try archive.capture(
            scene.prune.root.directory, CaptureOptions(label: "OWN-hunter2-label"))
        let labelled = try #require(captured.snapshot)
        try archive.label(.snapshot(snapshots[0]), as: "first-label")
        try archive.label(.snapshot(snapshots[0]), as: "LATE-hunter2-label")
        try archive.label(.snapshot(snapshots[1]), as: "OLD-hunter2-label")
        try archive.label(.snapshot(snapshots[1]), as: "good-label")
        try archive.pin(.snapshot(snapshots[1]), reason: "PIN-hunter2-reason")
        try archive.note("NOTE-hunter2-text", about: scene.root, snapshot: snapshots[2].id)
        try archive.note("a good note", about: scene.root, snapshot: labelled.id)
        let kinds: [OperationKind] = [.mark, .run]
        for kind in kinds {
            _ = try archive.store.enter(
                OperationRecord(
                    rootPath: scene.root.path.bytes, host: scene.root.host, kind: kind, time: .now,
                    before: snapshots[0].id, machine: scene.root.machine, name: "\(kind.rawValue)-hunter2-name"))
        }
        scene.copy()
        let before = try Archive.open(scene.place).snapshots().map(\.time)
        let result = try scene.purge(.text(Array("hunter2".utf8)))
        #expect(result.isComplete, "\(result.verification?.findings ?? [])")
        #expect(result.replaced.count == 1 && result.replaced[labelled.id] != nil)
        for isRebuilt in [false, true] {
            if isRebuilt { _ = try Archive.repairCatalogue(of: scene.place) }
            let cleaned = try Archive.open(scene.place)
            #expect(try cleaned.chunksHolding("hunter2") == 0)
            #expect(try cleaned.snapshots().map(\.time) == before)
            #expect(try cleaned.snapshots().compactMap(\.label) == ["good-label"])
            let pins = try cleaned.store.catalogue.pins()
            #expect(Set(pins.keys) == [snapshots[1].id.chunk] && pins.values.allSatisfy { $0.reason == nil })
            let notes = try cleaned.notes()
            #expect(notes.map(\.text) == ["a good note"] && notes[0].snapshot == result.replaced[labelled.id])
            let operations = try cleaned.store.catalogue.operations().map(\.record)
            #expect(Set(operations.map(\.kind)) == Set(kinds) && operations.allSatisfy { $0.name == nil })
            #expect(try cleaned.check(data: true).findings == [])
        }
        for file in Scene.files(in: scene.place) {
            #expect(try Files("/").read(file).firstRange(of: Array("hunter2".utf8)) == nil, "\(file)")
        }
        ArchiverError.expect(.noSuchPath) { _ = try scene.purge(.text(Array("hunter2".utf8))) }
    }

    @Test(
        "a purge names the files that have the same bytes or the text, and is not complete", arguments: [true, false])
    func sharedBytes(isSmall: Bool) throws {
        var random = SeededGenerator("bytes that others have too")
        let scene = try Scene(&random, versions: 3)
        let root = scene.prune.root
        let secret = isSmall ? Array("PASSWORD=geheim-and-long-enough".utf8) : random.noise(100_000)
        try root.write("key", secret)
        try scene.prune.capture()
        try root.remove("key")
        try root.write("backup.key", secret)
        let last = try scene.prune.capture()
        try scene.prune.archive.note("the geheim is out", about: scene.root, snapshot: last.id)
        scene.copy()
        let result = try scene.purge(.paths([.at("key")], of: scene.root))
        let findings = result.verification?.findings ?? []
        #expect(!result.isComplete && findings.count == 1 && findings[0].contains("backup.key"), "\(findings)")
        if isSmall {
            let text = try scene.purge(.text(Array("geheim".utf8)))
            let left = text.verification?.findings ?? []
            #expect(text.records == 1 && left.count == 1 && left[0].contains("backup.key"), "\(left)")
        }
        let whole = try scene.purge(.paths([.at("backup.key")], of: scene.root))
        #expect(whole.isComplete, "\(whole.verification?.findings ?? [])")
    }

    @Test("an unfinished purge is a finding, and each snapshot is listed once at every moment")
    func unfinished() throws {
        var random = SeededGenerator("unfinished purges")
        let scene = try Scene(&random, versions: 6)
        var (step, found) = (1, 0)
        while step < 10_000 {
            scene.copy()
            let left = Locked(step)
            do throws(ArchiverError) {
                _ = try scene.purge(isCancelled: {
                    left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                })
                break
            } catch {
                #expect(error.code == .cancelled)
            }
            let archive = try Archive.open(scene.place)
            let times = try archive.snapshots().map(\.time)
            #expect(times.count == scene.wanted.count && Set(times) == Set(scene.wanted.keys), "ended at \(step)")
            let isRewritten = try archive.store.catalogue.forgotten().contains { $0.reason == .purged }
            let isReported = archive.findings.contains { $0.kind == .unfinishedPurge }
            #expect(isReported || !isRewritten, "ended at \(step)")
            #expect(try archive.status().findings.contains { $0.message.contains("unfinished") } == isReported)
            if isReported { found += 1 }
            step += 1
        }
        #expect(found > 2)
        #expect(try Archive.open(scene.place).findings.isEmpty)
    }

    @Test("a purge is refused while several files have the same segment id")
    func severalFiles() throws {
        var random = SeededGenerator("purges and copied segments")
        let scene = try Scene(&random, versions: 3)
        scene.copy()
        let segments = scene.place.appending("segments")
        _ = system("cp -a '\(segments)' '\(scene.place)/nested'; mv '\(scene.place)/nested' '\(segments)/nested'")
        ArchiverError.expect(.damaged) { _ = try scene.purge() }
        _ = system("rm -rf '\(segments)/nested'")
        #expect(try scene.purge().isComplete)
        try scene.expectNoTrace()
    }
}
