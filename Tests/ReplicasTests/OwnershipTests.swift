// Whose replica it is: one archive of one machine writes to an address.

import ArchiveFormat
import ArchiveStorage
import Archives
import FileIO
import Foundation
import Glibc
import ObjectStore
import Replicas
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Whose replica it is", .blocking)
struct OwnershipTests {
    private func copy(_ source: FilePath, to target: FilePath) throws {
        try FileManager.default.copyItem(atPath: source.string, toPath: target.string)
    }

    @Test("the replica of another archive is refused, and stays as it is")
    func otherArchive() throws {
        let scene = try ReplicaScene()
        let other = try ReplicaScene(objects: scene.objects, adding: false)
        let before = scene.objects.objects
        let error = try failure { try other.add() }
        #expect(error?.code == .replica && error?.message.contains("another archive") == true)
        #expect(scene.objects.objects == before)
        #expect(try other.archive.replicas().isEmpty)
    }

    @Test("a replica that is removed and added again goes on with its objects")
    func again() throws {
        let scene = try ReplicaScene()
        try scene.capture(0)
        try scene.send()
        try scene.archive.removeReplica(ReplicaScene.name)
        #expect(try failure { try scene.send() }?.code == .noSuchReplica)
        let added = try scene.add()
        #expect(added.wasThere)
        #expect(try scene.send().objects == 0, "everything is there")
        try scene.capture(1)
        #expect(try scene.send().objects == 1)
    }

    @Test("an older copy of the archive that was put back does not replace what the replica has")
    func olderCopy() throws {
        let scene = try ReplicaScene()
        for number in 0..<3 { try scene.capture(number) }
        try scene.send()
        let (place, copy) = (scene.archive.directory, scene.base.path.appending("copy"))
        scene.archive.store.close()
        try self.copy(place, to: copy)
        try scene.reopen()
        var made = try scene.archive.snapshots().map(\.id)
        for number in 3..<12 { made.append(try scene.capture(number)) }
        try scene.send()
        let objects = scene.objects.objects
        scene.archive.store.close()
        try FileManager.default.moveItem(atPath: place.string, toPath: scene.base.path.appending("newer").string)
        try self.copy(copy, to: place)
        try scene.reopen()
        try scene.capture(20)
        let error = try failure { try scene.send(comparing: true) }
        #expect(error?.code == .replica && error?.message.contains("older copy") == true)
        #expect(scene.objects.objects == objects)
        #expect(Set(try scene.clone().archive.snapshots().map(\.id)) == Set(made))
    }

    @Test("a copy of the archive on another machine does not send")
    func copiedMachine() throws {
        let scene = try ReplicaScene()
        try scene.capture(0)
        let file = scene.archive.directory.appending("settings/replicas/test.replica.json")
        let text = try String(contentsOfFile: file.string, encoding: .utf8)
        let other = MachineID(deriving: [1]).hex
        try text.replacing(Machine.id.hex, with: other).write(toFile: file.string, atomically: true, encoding: .utf8)
        let error = try failure { try scene.send() }
        #expect(error?.code == .replica && error?.message.contains("another machine") == true)
        #expect(scene.names("tails/") == [])
    }

    @Test("a progress file that is lost is made again from the objects; a damaged one is named")
    func progress() throws {
        let scene = try ReplicaScene()
        for number in 0..<12 { try scene.capture(number) }
        try scene.send()
        let file = scene.archive.directory.appending("settings/replicas/test.progress.json").string
        unlink(file)
        #expect(try scene.send().objects == 0)
        try "{".write(toFile: file, atomically: true, encoding: .utf8)
        let error = try failure { try scene.send() }
        #expect(error?.code == .damaged && error?.message.contains(file) == true)
        try scene.capture(12)
        unlink(file)
        #expect(try scene.send().problems == [])
        #expect(try scene.clone().problems == [])
    }

    @Test("a store that replaces objects, or whose credentials may not delete, is told apart")
    func abilities() throws {
        let replacing = try ReplicaScene(objects: MemoryStore(refusesToOverwrite: false), adding: false)
        #expect(try replacing.add().abilities == StoreAbilities(refusesToOverwrite: false, deletes: true))
        let keeping = try ReplicaScene(objects: MemoryStore(allowsDeleting: false), adding: false)
        #expect(try keeping.add().abilities == StoreAbilities(refusesToOverwrite: true, deletes: false))
        for number in 0..<12 {
            try keeping.capture(number)
            try keeping.send()
        }
        #expect(keeping.names("segments/").count > 1 && keeping.names("tails/").count > 5)
        #expect(try keeping.clone().problems == [])
        #expect(try keeping.send(comparing: true).objects == 0)
    }

    @Test("a name that is none is refused")
    func names() throws {
        for name in ["", "-a", "a/b", "a.b", "ä", String(repeating: "a", count: 33)] {
            #expect(try failure { try ReplicaName(name) }?.code == .unsuitableSettings)
        }
        for text in [
            "segments/2026/11/21/x.age", "tails/x/0-1.age", "archiver-replica.json",
            "tails/20261121T101530.123456Z-00abcdef0123456789abcdef01234567.segment/00-1.age",
            "tails/20261121T101530.123456Z-00abcdef0123456789abcdef01234567.segment/0-0.age",
            "segments/2026/11/22/20261121T101530.123456Z-00abcdef0123456789abcdef01234567.segment.age",
        ] {
            #expect(ReplicaObject(try #require(ObjectName(text))) == nil, "\(text)")
        }
    }
}
