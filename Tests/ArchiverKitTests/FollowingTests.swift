// Subscribing to the snapshots of a watched root.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Roots
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct FollowingTests {
    @Test("a subscriber gets every snapshot once, in order, and can continue after a given one")
    func following() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        let first = try #require(try archive.snapshots().last)
        let began = AsyncStream<Void>.makeStream()
        let followed = Task {
            try await onThread {
                var ids: [SnapshotID] = []
                try archive.followSnapshots(of: root, onBegin: { began.continuation.yield() }) { snapshot in
                    ids.append(snapshot.id)
                    return true
                }
                return ids
            }
        }
        var beginnings = began.stream.makeAsyncIterator()
        _ = await beginnings.next()
        for number in 0..<5 {
            try sandbox.root.write("changing", "\(number)")
            try await watcher.nextSnapshot()
        }
        let all = try archive.snapshots().map(\.id)
        // A later subscriber that already has some of them.
        let rest = try await onThread {
            var ids: [SnapshotID] = []
            try archive.followSnapshots(of: root, after: all[2]) { snapshot in
                ids.append(snapshot.id)
                return snapshot.id != all.last
            }
            return ids
        }
        #expect(rest == Array(all[3...]))
        try await watcher.stop()
        #expect(try await followed.value == Array(all.drop { $0 != first.id }.dropFirst()))
    }

    @Test("new snapshots are iterated until watching ends, and each end of an iteration frees its connection")
    func iterating() async throws {
        let sandbox = try Sandbox()
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        await #expect(throws: ArchiverError.self) { _ = try await archive.newSnapshots(of: root) }
        let watcher = try await Watcher(archive, roots: [root])
        let all = try await archive.newSnapshots(of: root)
        // More than the watcher serves at a time.
        for number in 0..<40 {
            let snapshots = try await archive.newSnapshots(of: root)
            try sandbox.root.write("changing", "\(number)")
            let expected = try await watcher.nextSnapshot()
            for try await snapshot in snapshots {
                #expect(snapshot.id == expected.id)
                break
            }
        }
        let cancelled = Task { for try await _ in try await archive.newSnapshots(of: root) {} }
        cancelled.cancel()
        _ = await cancelled.result
        try await watcher.stop()
        var count = 0
        for try await _ in all { count += 1 }
        #expect(count == 40)
    }

    @Test("a subscriber that does not read delays no capture")
    func slow() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let path = RootLock.socket(of: sandbox.root.directory, in: sandbox.archive.store.layout).path
        guard let socket = try LocalSocket.connect(to: path) else {
            Issue.record("nobody listens at \(path)")
            return
        }
        try socket.writeLine(ControlMessage.line(ControlRequest(action: .subscribe)))
        for number in 0..<20 {
            try sandbox.root.write("changing", "\(number)")
            try await watcher.nextSnapshot()
        }
        var rest: [UInt8] = []
        var events: [ControlNews] = []
        while events.count < 21, let line = try socket.readLine(after: &rest) {
            events.append(try ControlMessage.decode(line))
        }
        #expect(events.map(\.event) == [.subscribed] + Array(repeating: .snapshot, count: 20))
        try await watcher.stop()
        #expect(
            try socket.readLine(after: &rest).map { try ControlMessage.decode($0) as ControlNews }?.event == .stopped)
    }

    @Test("a note can be recorded through the socket, and an invalid one is refused with the reason")
    func notes() async throws {
        let sandbox = try Sandbox()
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        let watcher = try await Watcher(archive, roots: [root])
        let first = try #require(try archive.snapshots().last)
        try sandbox.root.write("changing", "1")
        let second = try await watcher.nextSnapshot()
        let path = RootLock.socket(of: root, in: archive.store.layout).path
        let ask = { @Sendable (text: String?, snapshot: String?) in
            try await onThread {
                var request = ControlRequest(action: .note)
                (request.text, request.snapshot) = (text, snapshot)
                return try ControlClient.ask(request, about: root, at: path, patience: .seconds(1500))?.note
            }
        }
        let latest = try await ask("about the latest", nil)
        let named = try await ask("about the first", first.id.hex)
        let notes = try archive.notes(of: first.root)
        #expect(notes.map(\.id.hex) == [latest, named])
        #expect(notes.map(\.snapshot) == [second.id, first.id])
        #expect(notes.map(\.text) == ["about the latest", "about the first"])
        let wrong: [(String?, String?, ArchiverError.Code)] = [
            (" \n", nil, .system), (String(repeating: "x", count: 65_537), nil, .system), (nil, nil, .system),
            ("x", "3fa9", .system), ("x", SnapshotID(ChunkID(hashing: [1])).hex, .system),
        ]
        for (text, snapshot, code) in wrong {
            let refusal = await #expect(throws: ArchiverError.self) { _ = try await ask(text, snapshot) }
            #expect(refusal?.code == code && refusal?.remedy != nil, "\(text?.prefix(9) ?? "-")")
        }
        #expect(try archive.notes().count == 2)
        try await watcher.stop()
    }

    @Test("subscribing after an unknown snapshot, or to a root that is not watched, is refused")
    func refused() async throws {
        let sandbox = try Sandbox()
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        _ = try await archive.capture(root)
        let unwatched = try await onThread { message { try archive.followSnapshots(of: root) { _ in true } } }
        #expect(unwatched?.contains("nobody watches") == true)
        let watcher = try await Watcher(archive, roots: [root])
        let unknown = SnapshotID(ChunkID(hashing: [1]))
        let refused = try await onThread {
            message { try archive.followSnapshots(of: root, after: unknown) { _ in true } }
        }
        #expect(refused?.contains("holds no snapshot") == true, "\(refused ?? "")")
        try await watcher.stop()
    }
}

/// The message of the error that `body` throws; nil if it throws none.
private func message(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return (error as? ArchiverError)?.message
    }
}
