// What the page hears when others change the archive.

import ArchiverKit
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import TimelineServer

@Suite(.blocking) struct EventTests {
    private static func captured(_ scratch: TemporaryDirectory, _ archive: Archive) throws {
        for text in ["one", "two", "three"] {
            try scratch.write("root/a.txt", text)
            _ = try archive.capture(scratch.path.pushing("root"))
        }
    }

    /// Another process's view of the archive.
    private static func other(_ place: ServerPlace) throws -> (archive: Archive, root: ArchivedRoot) {
        let archive = try Archive.open(place.archive.directory)
        return (archive, try #require(try archive.roots().first))
    }

    @Test("a label, a forgotten snapshot, a capture and a moved directory are reported")
    func reportsChanges() async throws {
        let place = try await ServerPlace(past: EventTests.captured)
        let (archive, root) = try EventTests.other(place)
        let events = try place.connection("events")
        try events.wait(for: ": \n\n")
        let snapshots = try archive.snapshots(SnapshotQuery(root: root))
        try archive.label(.snapshot(snapshots[1]), as: "a label")
        try events.wait(for: "event: changed")
        _ = try archive.forget([.snapshot(snapshots[0])])
        try events.wait(for: "event: changed")
        struct Timeline: Decodable { let snapshots: Int }
        let target = "timeline?root=\(RootAnswer.id(root))"
        #expect(try place.get(Timeline.self, target).snapshots == 2)
        try place.scratch.write("root/a.txt", "four")
        _ = try await archive.capture(root.path)
        try events.wait(for: "event: snapshot")
        try archive.move(root, to: place.scratch.path.pushing("moved"))
        try events.wait(for: "event: roots")
    }

    @Test("a stream begins with the state of the archive: that of the list of roots, unless something has changed")
    func begins() async throws {
        let place = try await ServerPlace(past: EventTests.captured)
        let (archive, root) = try EventTests.other(place)
        struct Roots: Decodable { let change: String }
        let before = try place.get(Roots.self, "roots").change
        try place.connection("events").wait(for: "event: begun\ndata: {\"change\":\"\(before)\"}\n")
        let snapshot = try #require(try archive.snapshots(SnapshotQuery(root: root)).first)
        try archive.label(.snapshot(snapshot), as: "a label")
        let told = try place.connection("events").wait(for: ": \n\n")
        #expect(told.contains("event: begun") && !told.contains("\"\(before)\""), "\(told)")
        let after = try place.get(Roots.self, "roots").change
        #expect(told.contains("\"\(after)\""), "\(told)")
    }

    @Test("what happens while a stream begins makes the page read its data again")
    func beginsDuringChange() async throws {
        // The label is made when the stream has begun to read.
        let label = Locked<(@Sendable () -> Void)?>(nil)
        let place = try await ServerPlace(past: EventTests.captured, onStream: { label.withLock { $0 }?() })
        let (archive, root) = try EventTests.other(place)
        struct Roots: Decodable { let change: String }
        let before = try place.get(Roots.self, "roots").change
        let snapshot = try #require(try archive.snapshots(SnapshotQuery(root: root)).first)
        label.withLock { $0 = { _ = try? archive.label(.snapshot(snapshot), as: "a label") } }
        let told = try place.connection("events").wait(for: ": \n\n")
        #expect(told.contains("event: begun") && !told.contains("\"\(before)\""), "\(told)")
        #expect(try archive.snapshot(SnapshotSelector(snapshot.id.hex)).label == "a label")
    }

    @Test("an archive that is moved away is reported, and its return too")
    func reportsAbsence() async throws {
        let place = try await ServerPlace(past: EventTests.captured)
        let events = try place.connection("events")
        try events.wait(for: ": \n\n")
        let (here, there) = (place.archive.directory.string, place.archive.directory.string + ".away")
        try FileManager.default.moveItem(atPath: here, toPath: there)
        try events.wait(for: "event: archive\ndata: {\"message\"")
        try FileManager.default.moveItem(atPath: there, toPath: here)
        try events.wait(for: "event: archive\ndata: {}")
    }
}
