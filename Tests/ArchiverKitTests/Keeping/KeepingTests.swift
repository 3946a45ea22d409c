// Labels, pins, notes and forgetting, through the library.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite("Keeping and forgetting", .blocking)
struct KeepingTests {
    private let sandbox: Sandbox
    private let snapshots: [ListedSnapshot]
    private var archive: Archive { sandbox.archive }

    init() throws {
        sandbox = try Sandbox()
        var snapshots: [ListedSnapshot] = []
        for number in 0..<4 {
            try sandbox.root.write("file", "state \(number)")
            snapshots.append(try sandbox.capture(label: number == 0 ? "own" : nil))
        }
        self.snapshots = snapshots
    }

    /// Returns the archive with a rebuilt catalogue.
    private func rebuilt() throws -> Archive {
        let copy = sandbox.base.directory.appending("copy-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: archive.directory.string, toPath: copy.string)
        _ = try Archive.repairCatalogue(of: copy)
        return try Archive.open(copy)
    }

    private func code(_ body: () throws -> Void) -> ArchiverError.Code? {
        do { try body() } catch { return (error as? ArchiverError)?.code }
        return nil
    }

    @Test("a label given later replaces the earlier one, and the snapshot stays unchanged")
    func labels() throws {
        let before = try archive.details(of: snapshots[1])
        try archive.label(.snapshot(snapshots[1]), as: "late")
        try archive.label(.snapshot(snapshots[0]), as: "other")
        try archive.label(.snapshot(snapshots[0]), as: "other")
        for archive in [archive, try sandbox.reopened(), try rebuilt()] {
            #expect(try archive.snapshot("late").id == snapshots[1].id)
            #expect(try archive.snapshot("other").id == snapshots[0].id)
            #expect(code { _ = try archive.snapshot("own") } == .noSuchSnapshot)
            #expect(try archive.details(of: snapshots[1]) == before)
            #expect(try archive.check(data: true).findings == [])
        }
        try archive.removeLabel(of: .snapshot(snapshots[0]))
        #expect(try archive.snapshots().map(\.label) == [nil, "late", nil, nil])
        #expect(code { try archive.removeLabel(of: .snapshot(snapshots[0])) } == .noLabel)
        for label in ["", "latest", "a:b", String(repeating: "x", count: 5000)] {
            #expect(code { try archive.label(.snapshot(snapshots[2]), as: label) } == .malformedSelector, "\(label)")
        }
        #expect(try rebuilt().snapshots().map(\.label) == [nil, "late", nil, nil])
    }

    @Test("a pinned snapshot cannot be forgotten until it is unpinned or the pin expires")
    func pins() throws {
        let pinned = Selection.snapshot(snapshots[1])
        try archive.pin(pinned, reason: "a reason")
        #expect(code { try archive.forget([pinned]) } == .pinned)
        #expect(code { try archive.forget([.snapshot(snapshots[0]), pinned]) } == .pinned)
        #expect(try archive.snapshots() == snapshots)
        for archive in [archive, try rebuilt()] {
            let pins = try archive.pins()
            #expect(pins.map(\.target) == [pinned.id] && pins.map(\.reason) == ["a reason"])
            #expect(try archive.pin(of: pinned) == pins.first)
        }
        #expect(code { try archive.unpin(.snapshot(snapshots[2])) } == .notPinned)
        #expect(code { _ = try archive.pin(pinned, until: Timestamp(seconds: 5)) } == .unsuitableSettings)
        try archive.unpin(pinned)
        #expect(try archive.pins().isEmpty && rebuilt().pins().isEmpty)
        // An expired pin keeps nothing.
        try archive.store.enter(
            PinRecord(
                target: pinned.id, time: .now, until: Timestamp.now.advanced(byNanoseconds: 1),
                sequence: archive.store.catalogue.nextSequence(ofPin: pinned.id)))
        #expect(try archive.pins().isEmpty && archive.pin(of: pinned) == nil)
        try archive.forget([pinned])
        #expect(try archive.snapshots().count == 3)
        #expect(code { _ = try archive.pin(pinned) } == .noSuchSnapshot)
    }

    @Test("forgotten snapshots can be brought back and restored, also with a rebuilt catalogue")
    func forgetting() throws {
        let listing = try sandbox.restored(snapshots[1])
        try archive.forget([.snapshot(snapshots[1]), .snapshot(snapshots[2])], isDryRun: true)
        #expect(try archive.snapshots() == snapshots)
        try archive.forget([.snapshot(snapshots[1]), .snapshot(snapshots[2])])
        for archive in [archive, try rebuilt()] {
            #expect(try archive.snapshots() == [snapshots[0], snapshots[3]])
            let forgotten = try archive.forgotten()
            #expect(Set(forgotten.compactMap(\.selected)) == Set(snapshots[1...2].map(Selection.snapshot)))
            #expect(try archive.forgottenLast().count == 2)
            #expect(try archive.check(data: true).findings == [])
        }
        let one = try archive.forgotten(withIDPrefix: snapshots[1].id.short)
        try archive.unforget([one])
        for archive in [archive, try rebuilt()] {
            #expect(try archive.snapshots() == [snapshots[0], snapshots[1], snapshots[3]])
            #expect(try archive.forgotten().map(\.id) == [snapshots[2].id.chunk])
            #expect(try archive.check(data: true).findings == [])
        }
        try sandbox.restored(snapshots[1]).expect(equals: listing, "brought back")
        #expect(code { try archive.unforget([one]) } == .noSuchSnapshot)
        #expect(code { _ = try archive.forgotten(withIDPrefix: "0123456789abcdef") } == .noSuchSnapshot)
        #expect(code { try archive.forget([.snapshot(snapshots[2])]) } == .noSuchSnapshot)
    }

    @Test("forgetting a range skips pinned, labelled and newest snapshots; a root keeps one snapshot")
    func ranges() throws {
        try archive.pin(.snapshot(snapshots[2]))
        let result = try archive.forget(SnapshotQuery(until: .now), isDryRun: true)
        #expect(result.forgotten == [snapshots[1]])
        #expect(result.kept.map(\.snapshot) == [snapshots[0], snapshots[2], snapshots[3]])
        #expect(result.kept.map(\.reason) == [.labelled, .pinned, .newest])
        #expect(try archive.snapshots() == snapshots)
        #expect(try archive.forget(SnapshotQuery(until: .now)).forgotten == [snapshots[1]])
        #expect(try archive.snapshots() == [snapshots[0], snapshots[2], snapshots[3]])
        try archive.unpin(.snapshot(snapshots[2]))
        let all = try archive.snapshots().map(Selection.snapshot)
        #expect(code { try archive.forget(all) } == .lastSnapshot)
        try archive.forget(Array(all.dropLast()))
        #expect(code { try archive.forget(Array(all.suffix(1))) } == .lastSnapshot)
        #expect(try archive.snapshots() == [snapshots[3]])
    }

    @Test("notes are listed by root and time, also with a rebuilt catalogue")
    func notes() throws {
        let root = snapshots[0].root
        let first = try archive.note("first", about: root, at: Timestamp(seconds: 5))
        let second = try archive.note("second", about: root, snapshot: snapshots[2].id, at: Timestamp(seconds: 9))
        for archive in [archive, try rebuilt()] {
            #expect(try archive.notes() == [first, second])
            #expect(try archive.notes(of: root, since: Timestamp(seconds: 6)) == [second])
            #expect(try archive.notes(of: root, until: Timestamp(seconds: 6)) == [first])
            #expect(try archive.notes(of: ArchivedRoot(path: "/nowhere", host: "")) == [])
        }
        for text in ["", String(repeating: "x", count: 65_537)] {
            #expect(code { _ = try archive.note(text, about: root) } == .unsuitableSettings)
        }
    }

    @Test("a program cannot forget a pinned state, and a label given later selects it")
    func states() throws {
        for number in 0..<3 { try archive.save(number, as: "title") }
        let mementos = try archive.history(of: "title")
        let state = try #require(try archive.states(StateQuery(title: "title")).first)
        try archive.pin(.state(state))
        try archive.label(.state(state), as: "first one")
        #expect(try archive.load(Int.self, as: "title", at: "first one") == 0)
        #expect(throws: StateError.self) { try archive.forget(mementos) }
        #expect(try archive.history(of: "title").count == 3)
        try archive.forget(Array(mementos.dropFirst()))
        #expect(try archive.history(of: "title").map(\.id) == [state.id.chunk])
        try archive.unforget(archive.forgottenLast())
        #expect(try archive.history(of: "title").map(\.id) == mementos.map(\.id))
        #expect(try archive.load(Int.self, as: "title") == 2)
    }

    @Test("a removed note is not listed, also with a rebuilt catalogue, and a prune removes its bytes")
    func removedNotes() throws {
        let root = snapshots[0].root
        let kept = try archive.note("kept", about: root, snapshot: snapshots[1].id)
        try archive.note("secret-words", about: root, snapshot: snapshots[1].id)
        try archive.note("secret-words", about: root)
        #expect(code { try archive.removeNotes("secret", about: root) } == .noSuchNote)
        #expect(try archive.removeNotes("secret-words", about: root, snapshot: snapshots[1].id).count == 1)
        #expect(try archive.removeNotes("secret-words", about: root).count == 1)
        for archive in [archive, try rebuilt()] {
            #expect(try archive.notes() == [kept])
            #expect(try archive.check(data: true).findings == [])
        }
        #expect(try archive.chunksHolding("secret-words") == 2)
        _ = try archive.prune()
        #expect(try archive.chunksHolding("secret-words") == 0)
        for archive in [archive, try rebuilt()] {
            #expect(try archive.notes() == [kept])
            #expect(try archive.check(data: true).findings == [])
        }
    }
}

extension Archive {
    /// How many chunks in the archive's segments have the bytes of `text`, whether anything needs them or not.
    func chunksHolding(_ text: String) throws -> Int {
        var count = 0
        for segment in try store.catalogue.segments() {
            let scan = try SegmentScan(
                of: store.open(segment), from: SegmentHeader.byteCount, verifyingPayloads: true, passingDamage: true)
            for (id, offset) in scan.chunks {
                let bytes = try store.read(id, at: BlockLocation(segment: segment.number, offset: offset))
                if bytes.firstRange(of: Array(text.utf8)) != nil { count += 1 }
            }
        }
        return count
    }
}
