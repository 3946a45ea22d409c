// Requests about a history with the greatest and the least numbers that the format allows.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite("Limits of numbers", .blocking) struct LimitTests {
    private struct Answered: Decodable { let id: String }
    private struct Roots: Decodable { let roots: [Answered] }

    /// A file, captured twice, then snapshots at the limits of time, order and size.
    private static func past(_ scratch: TemporaryDirectory, _ archive: Archive) throws {
        try scratch.write("root/f", "one\n")
        _ = try archive.capture(scratch.path.pushing("root"))
        try scratch.write("root/f", "two\n")
        let last = try #require(try archive.capture(scratch.path.pushing("root")).snapshot)
        let store = archive.store
        var snapshot = try store.snapshot(last.id)
        let seconds: [Int64] = [-62_167_219_200, -1, 0, Timestamp.now.seconds, 253_402_300_799]
        for (index, second) in seconds.enumerated() {
            snapshot.time = Timestamp(seconds: second, nanoseconds: index.isMultiple(of: 2) ? 0 : 999_999_999)
            snapshot.sequence = Snapshot.sequenceLimit - UInt64(index)
            snapshot.changes = ChangeCounts(added: 1 << 48, modified: 1 << 48, removed: 1 << 48)
            snapshot.totals = Totals(files: 1 << 48, directories: 1 << 48, others: 1 << 48, bytes: UInt64(Int64.max))
            snapshot.storedBytes = UInt64(Int64.max)
            _ = try store.beginCommit().commit(snapshot, base: nil)
            try store.enter([
                GapRecord(
                    rootPath: snapshot.rootPath, host: snapshot.host, cause: .downtime,
                    start: Timestamp(seconds: seconds[0]), end: snapshot.time, machine: snapshot.machine)
            ])
            _ = try store.enter(
                OperationRecord(
                    rootPath: snapshot.rootPath, host: snapshot.host, kind: .restore, time: snapshot.time,
                    before: last.id, snapshot: last.id, machine: snapshot.machine))
            _ = try store.beginCommit().commit(
                StateRecord(
                    title: "game", host: "", time: snapshot.time, sequence: snapshot.sequence, type: "Int",
                    content: .inline([1]), storedBytes: UInt64(Int64.max)), bases: [])
        }
    }

    @Test("no request makes a server trap, however great the numbers of the archive and of the request")
    func answers() async throws {
        let place = try await ServerPlace(past: LimitTests.past)
        let root = try #require(try place.get(Roots.self, "roots").roots.first).id
        let ids = try place.archive.snapshots().map(\.id.hex)
        let times: [Int64] = [.min, -62_167_219_200_000, 0, 253_402_300_799_999, .max]
        var targets = ["roots", "status", "states", "states/versions?title=game"]
        for from in times {
            for to in times {
                for limit in [1, 1000] {
                    targets.append("timeline?root=\(root)&from=\(from)&to=\(to)&limit=\(limit)&buckets=\(limit)")
                }
                targets.append("operations?root=\(root)&from=\(from)&to=\(to)")
                targets.append("sessions?root=\(root)&from=\(from)&to=\(to)")
                targets.append("snapshots?root=\(root)&from=\(from)&to=\(to)&limit=3")
            }
            for name in ["at", "since", "until", "before", "after", "time"] {
                targets.append("snapshots?root=\(root)&\(name)=\(from)&limit=2")
                targets.append("search?root=\(root)&kind=name&q=f&\(name)=\(from)")
                targets.append("deleted?root=\(root)&\(name)=\(from)&limit=2")
                targets.append("log?root=\(root)&path=f&\(name)=\(from)")
            }
        }
        targets += ["usage", "log", "deleted", "timeline", "snapshots", "sessions", "operations", "blame"].flatMap {
            ["\($0)?root=\(root)", "\($0)?root=\(root)&path=f&limit=1"]
        }
        for id in ids {
            targets += ["tree?root=\(root)&at=\(id)&path=", "tree?root=\(root)&snapshot=\(id)&path="]
            targets += ids.flatMap {
                ["changes?root=\(root)&a=\(id)&b=\($0)", "diff?root=\(root)&a=\(id)&b=\($0)&path=f"]
            }
        }
        var answered = 0
        for target in targets {
            let answer = try ServerPlace.answer(place.port, "GET", "/api/1/\(target)", place.headers)
            #expect([200, 400, 404, 409, 422].contains(answer.status), "\(target): \(answer.status)")
            if answer.status == 200 { answered += 1 }
        }
        #expect(answered > targets.count / 4, "\(answered) of \(targets.count)")
    }
}
