// A store that changes, exchanges, renames, hides or invents objects.

import Age
import ArchiveFormat
import ArchiveStorage
import Archives
import Foundation
import Glibc
import ObjectStore
import Replicas
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("A hostile store", .blocking)
struct HostileStoreTests {
    private func scene() throws -> ReplicaScene {
        let scene = try ReplicaScene()
        for number in 0..<14 {
            try scene.capture(number)
            if number % 5 == 0 { try scene.send() }
        }
        try scene.send()
        return scene
    }

    private func name(_ text: String) throws -> ObjectName { try #require(ObjectName(text)) }

    /// The problems of a clone, which must name `object`.
    private func expectNamed(_ scene: ReplicaScene, _ object: String) throws {
        let problems = try scene.clone().problems
        #expect(problems.contains { $0.contains(object) }, "\(object): \(problems)")
        let replica = try? Archive.reading(scene.reader())
        let read = try replica?.snapshots().count ?? 0
        #expect(read < 14, "the object is read nevertheless")
    }

    @Test("an object that is changed anywhere is refused by its name")
    func changed() throws {
        let scene = try scene()
        let object = try #require(scene.names("segments/").first)
        let bytes = try #require(scene.objects.objects[name(object)])
        for place in stride(from: 0, to: bytes.count, by: bytes.count / 40) {
            var changed = bytes
            changed[place] ^= 1
            scene.objects.objects[try name(object)] = changed
            let reader = try scene.reader()
            let parsed = try #require(ReplicaObject(name(object)))
            let error = try failure {
                try reader.open(parsed, length: UInt64(changed.count)).readAll { _, _ in }
            }
            #expect(error != nil, "byte \(place)")
            #expect(error?.message.contains(object) == true)
        }
    }

    @Test("a truncated object is refused, also at the end of a step")
    func truncated() throws {
        let scene = try ReplicaScene(segmentBytes: 300_000)
        try scene.capture(0, bytes: 200_000)
        try scene.send()
        let object = try #require(scene.names("tails/").first)
        let bytes = try #require(scene.objects.objects[name(object)])
        let parsed = try #require(ReplicaObject(name(object)))
        let header = try AgeHeader(parsing: bytes).length + AgeHeader.nonceLength
        for length in [0, 10, header, header + 65_552, header + 2 * 65_552, bytes.count - 1] {
            scene.objects.objects[try name(object)] = Array(bytes.prefix(length))
            let error = try failure {
                try scene.reader().open(parsed, length: UInt64(length)).readAll { _, _ in }
            }
            #expect(error?.message.contains(object) == true, "\(length) bytes")
            // Its name says how long it is, so that a part far behind is asked for with the header.
            let source = try ReplicaSegments(scene.reader())
            let segment = try source.open(try #require(parsed.path))
            var part = [UInt8](repeating: 0, count: 100)
            #expect(throws: StorageError.self, "\(length) bytes") {
                try part.withUnsafeMutableBytes { try segment.read(into: $0, at: 190_000) }
            }
        }
    }

    @Test("an object under the name of another one is refused")
    func exchanged() throws {
        let scene = try scene()
        let objects = scene.names("segments/")
        let (one, other) = (try name(objects[0]), try name(objects[1]))
        let held = scene.objects.objects
        scene.objects.objects[one] = held[other]
        scene.objects.objects[other] = held[one]
        try expectNamed(scene, objects[0])
    }

    @Test("an object of somebody who knows the recipient is refused")
    func forged() throws {
        let scene = try scene()
        // Another archive, for the same recipient, signed by another key.
        let other = try ReplicaScene(adding: false)
        try other.add { $0.recipients = [scene.identity.recipient].compactMap { $0 } }
        try other.capture(0)
        try other.send()
        let forged = try #require(other.objects.objects.first { $0.key.text.hasPrefix("tails/") })
        scene.objects.objects[forged.key] = forged.value
        let problems = try scene.clone().problems
        #expect(problems.contains { $0.contains(forged.key.text) }, "\(problems)")
        let object = try #require(scene.names("segments/").first)
        scene.objects.objects[try name(object)] = forged.value
        try expectNamed(scene, object)
    }

    @Test("a hidden segment is missed by name, as later ones name it")
    func hidden() throws {
        let scene = try scene()
        let object = try #require(scene.names("segments/").first)
        scene.objects.objects[try name(object)] = nil
        let id = try #require(object.split(separator: "-").last?.prefix(32))
        let problems = try scene.clone().problems
        #expect(problems.contains { $0.contains(id) }, "\(problems)")
    }

    @Test("a hidden piece in the middle is missed by name")
    func hiddenPiece() throws {
        let scene = try ReplicaScene(segmentBytes: 1 << 20)
        for number in 0..<3 {
            try scene.capture(number)
            try scene.send()
        }
        let pieces = scene.names("tails/").sorted { $0.count != $1.count ? $0.count < $1.count : $0 < $1 }
        let middle = try #require(pieces.dropFirst().first)
        scene.objects.objects[try name(middle)] = nil
        let result = try scene.clone()
        #expect(result.problems.contains { $0.contains("missing from the replica") })
        #expect(try result.archive.snapshots().count == 1, "what is before it is read")
    }

    @Test("an old piece that is put back changes nothing")
    func replayed() throws {
        let scene = try ReplicaScene()
        try scene.capture(0)
        try scene.send()
        let old = scene.objects.objects
        for number in 1..<14 { try scene.capture(number) }
        try scene.send()
        for (name, bytes) in old where name.text.hasPrefix("tails/") { scene.objects.objects[name] = bytes }
        let result = try scene.clone()
        #expect(result.problems == [])
        #expect(try result.archive.snapshots().count == 14)
        #expect(try scene.send(comparing: true).problems == [])
    }

    @Test("a description with another signer is refused if the signer is known")
    func otherSigner() throws {
        let scene = try scene()
        let signer = try scene.reader().manifest.signer
        _ = try scene.reader(signer: signer)
        let error = try failure { try scene.reader(signer: String(signer.reversed())) }
        #expect(error?.code == .replica && error?.message.contains(signer) == true)
        let name = try ReplicaManifest.name
        scene.objects.objects[name] = Array("{}".utf8)
        #expect(try failure { try scene.reader() }?.code == .replica)
        let newer = String(decoding: try #require(try self.scene().objects.objects[name]), as: UTF8.self)
        scene.objects.objects[name] = Array(newer.replacing("\"version\" : 1", with: "\"version\" : 2").utf8)
        #expect(try failure { try scene.reader() }?.code == .newerFormat)
    }

    @Test("an identity that does not fit is a wrong identity")
    func wrongIdentity() throws {
        let scene = try scene()
        let reader = try ReplicaReader(scene.objects, [AgeIdentity.generate()])
        let error = try failure { try ReplicaClone.run(reader, into: scene.base.path.appending("clone")) }
        #expect(error?.code == .wrongIdentity)
        #expect(try failure { try ReplicaReader(scene.objects, []) }?.code == .wrongIdentity)
    }

    @Test("a check names what is missing or wrong, sends it again, and deletes what is wrong")
    func mended() throws {
        let scene = try scene()
        let replicator = try scene.archive.replicator(ReplicaScene.name, stores: scene.stores)
        let whole = try replicator.check(readingWith: [scene.identity])
        #expect(whole.problems == [] && whole.mended == [] && whole.objects == scene.names("").count - 1)
        let objects = scene.names("segments/")
        let tail = try #require(scene.names("tails/").first)
        let (gone, changed, short) = (try name(objects[0]), try name(objects[1]), try name(tail))
        scene.objects.objects[gone] = nil
        scene.objects.objects[short]?.removeLast()
        let names = try replicator.check()
        #expect(names.mended.count == 2 && names.problems == [])
        #expect(scene.objects.objects[gone] != nil)
        scene.objects.objects[changed]?[2_000] ^= 1
        #expect(try replicator.check().mended == [], "the length is right")
        let bytes = try replicator.check(readingWith: [scene.identity])
        #expect(bytes.mended.count == 1 && bytes.mended.first?.contains(objects[1]) == true)
        #expect(try replicator.check(readingWith: [scene.identity]).mended == [])
        #expect(try scene.clone().problems == [])
        #expect(try scene.status.checkedData != nil)
    }

    @Test("a clone that was killed in its first step is finished, and one of another replica is left alone")
    func killedFirst() throws {
        let scene = try scene()
        let manifest = try scene.reader().manifest
        let place = scene.base.path.appending("clone")
        mkdir(place.string, 0o700)
        let marker = place.appending("clone.unfinished").string
        try "\(manifest.archive.hex) \(manifest.signer)\n".write(toFile: marker, atomically: true, encoding: .utf8)
        let result = try scene.clone("clone")
        #expect(result.problems == [])
        let other = scene.base.path.appending("other")
        mkdir(other.string, 0o700)
        try "another\n".write(
            toFile: other.appending("clone.unfinished").string, atomically: true, encoding: .utf8)
        #expect(try failure { try scene.clone("other") }?.code == .targetNotEmpty)
    }
}
