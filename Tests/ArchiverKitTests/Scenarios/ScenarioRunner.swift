// Runs a scenario: changes the tree while it is watched, and compares at every barrier.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Glibc
import SystemPackage
import TestSupport
import Testing
import TreeScripts

@testable import ArchiverKit

/// What watches the tree of a scenario.
enum Host {
    /// A service in this process.
    case service
    /// The program.
    case program
    /// The program, in a namespace with its own mounts and limits.
    case namespace(Namespace)
}

/// A running scenario.
final class ScenarioRunner {
    private let script: Script
    private let manner: Manner
    private let inMemory: TemporaryDirectory
    private let sandbox: Sandbox
    private let tree: ScriptTree
    private let watcher: any ScenarioWatcher
    /// The watcher if it is a program, and its namespace.
    let program: ProgramWatcher?
    let namespace: Namespace?

    /// The latest snapshot at the last barrier and at the one before.
    private var latest: ListedSnapshot?
    private var previous: ListedSnapshot?
    /// The number of snapshots between those barriers.
    private var newSnapshots = 0
    private var known = 0
    /// The events between them that no line has expected yet.
    private var events: [String] = []
    /// Paths that ignore files exclude: they are neither captured nor compared.
    private var leftOut: [RelativePath] = []
    /// Where file systems are mounted in the root: the snapshot has the covered entries, the tree shows the mounted
    /// ones.
    var mountPoints: [RelativePath] = []
    var isWatching = false
    private var line = "the set-up"

    init(_ script: Script, _ manner: Manner, _ host: Host) throws {
        self.script = script
        self.manner = manner
        // The archive is in memory, because durability is not tested here and waiting for a disk would take most of the
        // time. The tree itself is on a disk in one pace and in memory in the other.
        inMemory = try TemporaryDirectory(inMemory: true)
        switch manner.pace {
        case .patient: sandbox = try Sandbox(archive: inMemory.path.appending("archive"))
        case .eager: sandbox = try Sandbox(in: inMemory.path)
        }
        try sandbox.base.makeDirectory("outside")
        if case .namespace(let space) = host { namespace = space } else { namespace = nil }
        tree = ScriptTree(base: namespace?.seen(sandbox.base.directory) ?? sandbox.base.directory)
        if case .service = host {
            program = nil
            watcher = ServiceWatcher(sandbox.archive, root: sandbox.root.directory)
        } else {
            let program = ProgramWatcher(sandbox.archive.directory, root: sandbox.root.directory, in: namespace)
            (self.program, watcher) = (program, program)
        }
    }

    /// Performs every line; then checks that the watcher still captures changes and that the last snapshot can be
    /// restored.
    func run() async throws {
        for line in script.lines {
            self.line = "\(script.name):\(line.number): \(line)"
            try await perform(line)
        }
        line = "\(script.name): the end"
        if isWatching { try await settle() }
        if isWatching && hasRoot { try await expectHearing() }
        expectNothingElse()
        if isWatching { try await watcher.stop() }
        if hasRoot && latest != nil { try expectRestorable() }
        try sandbox.expectCleanArchive()
    }

    private func perform(_ line: Script.Line) async throws {
        switch line.command {
        case "requires": break
        case "watch": try await watch(line.arguments)
        case "settle": try await settle()
        case "barrier":
            try await watcher.settle()
            try look()
        case "stop":
            try await watcher.stop()
            isWatching = false
            try compare()
        case "until":
            guard line.arguments.first == "snapshots", let count = line.arguments.dropFirst().first.flatMap({ Int($0) })
            else { throw ScriptError(line.description, "until what?") }
            let repeated = line.words.dropFirst(3)
            while watcher.log.snapshots < count {
                try Task.checkCancellation()
                guard try tree.run(Array(repeated), line.description) else {
                    throw ScriptError(line.description, "no such command")
                }
                await Task.yield()
            }
        case "audit": try await watcher.audit()
        case "left-out": leftOut = try line.words.dropFirst().map { try #require(RelativePath($0), "\(line)") }
        case "expect": try expect(line.arguments, line)
        case "allow": allow(line.arguments)
        default:
            if try await performOnProgram(line) { return }
            if try !tree.run(line) { throw ScriptError(line.description, "no such command") }
        }
    }

    /// The path by which a program in the namespace reaches the script's path `path`.
    func place(of path: [UInt8]) -> FilePath {
        let up = Array("../".utf8)
        if path.starts(with: up) { return sandbox.base.directory.pushing(FilePath(bytes: path.dropFirst(up.count))) }
        return path == [UInt8(ascii: ".")] ? sandbox.root.directory : sandbox.root.full(FilePath(bytes: path))
    }

    // MARK: Watching

    /// Performs `watch` with its options `meanwhile`, `wait`, `settle=` and `max-delay=`.
    private func watch(_ arguments: [String]) async throws {
        var options = manner.options
        var readiness = Readiness.watching
        for argument in arguments {
            let parts = argument.split(separator: "=")
            let milliseconds = parts.last.flatMap { Int($0.prefix { $0.isNumber }) }.map { Duration.milliseconds($0) }
            switch (parts.first, milliseconds) {
            case ("settle", let duration?): options.settings.settle = duration
            case ("max-delay", let duration?): options.settings.maxDelay = duration
            case ("meanwhile", _): readiness = .begun
            case ("wait", _):
                readiness = .waiting
                options.waitsForRoots = true
            default: throw ScriptError(argument, "no such option")
            }
        }
        do {
            try await watcher.start(options, until: readiness)
            isWatching = true
            if readiness != .begun { try compare() }
        } catch let error as ArchiverError where script.expects("refused") {
            events.append("refused \(error.code.rawValue)")
        }
    }

    private func settle() async throws {
        try await watcher.settle()
        try compare()
    }

    private var hasRoot: Bool {
        var status = stat()
        return stat(tree.root.string, &status) == 0
    }

    /// Reads what the watcher reported and captured since the last barrier.
    private func look() throws {
        expectNothingElse()
        events = watcher.log.takeEvents()
        let snapshots = try sandbox.archive.snapshots()
        newSnapshots = snapshots.count - known
        known = snapshots.count
        previous = latest
        latest = snapshots.last
        awaitClockTick()
    }

    /// Waits until the kernel's coarse clock is later than now: a directory that seems to have changed before the
    /// capture ended is captured again.
    private func awaitClockTick() {
        func time(_ clock: clockid_t) -> Timestamp {
            var time = timespec()
            clock_gettime(clock, &time)
            return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
        }
        let end = time(CLOCK_REALTIME)
        while time(CLOCK_REALTIME_COARSE) <= end { sched_yield() }
    }

    /// Checks that the latest snapshot equals the tree, if the root exists.
    private func compare() throws {
        try look()
        guard hasRoot else { return }
        let snapshot = try #require(latest, "\(line): nothing was captured")
        let captured = try TreeListing(of: snapshot, in: sandbox.archive).without(mountPoints)
        let wanted = try TreeListing(of: tree.root).without(leftOut + mountPoints).withoutHoles
        expect(captured, equals: wanted, "the latest snapshot")
    }

    /// Compares everything except the times of directories in which nothing else changed: a watcher leaves those for
    /// its next snapshot.
    private func expect(_ found: TreeListing, equals wanted: TreeListing, _ what: String) {
        let isComplete = isExact && newSnapshots > 0
        let (found, wanted) = isComplete ? (found, wanted) : (found.withoutDirectoryTimes, wanted.withoutDirectoryTimes)
        found.expect(equals: wanted, "\(line), \(what)")
    }

    // MARK: The end

    /// Checks that the scenario did not stop the watcher from seeing changes.
    private func expectHearing() async throws {
        line = "\(script.name): after the end"
        for words in [["mkdir", "-p", "later/still"], ["write", "later/still/f", "1"], ["write", "later-f", "1"]] {
            _ = try tree.run(words.map { Array($0.utf8) }, words.joined(separator: " "))
        }
        try await settle()
        _ = try tree.run(["append", "later/still/f", "2"].map { Array($0.utf8) }, "append")
        try await settle()
    }

    private func expectRestorable() throws {
        let snapshot = try sandbox.archive.snapshot(.latest)
        let listing = try TreeListing(of: tree.root).without(leftOut).without(S_IFSOCK)
        let restored = try sandbox.restored(snapshot, ignoringSockets: true)
        expect(restored, equals: listing, "restored")
    }
}

// MARK: - Expectations

extension ScenarioRunner {
    /// Whether the findings of a barrier are deterministic.
    private var isExact: Bool { manner.pace == .patient }

    private func expect(_ words: [String], _ line: Script.Line) throws {
        let comment = Comment(rawValue: self.line)
        switch (words.first, words.dropFirst().first) {
        case ("snapshots", let count?):
            guard isExact else { return }
            let last = try latest.map { try sandbox.archive.store.snapshot($0.id) }
            let changed = last?.changedPaths.map { "\($0.path)" } ?? []
            #expect(newSnapshots == Int(count), "\(self.line): \(last.map { "\($0.cause)" } ?? "none") \(changed)")
        case ("added", _?), ("modified", _?), ("removed", _?), ("unchanged", _?):
            guard isExact else { return }
            let found = try difference(at: line.words[2])?.rawValue ?? "unchanged"
            #expect(found == words.first, comment)
        default:
            #expect(events.contains(words.joined(separator: " ")), comment)
            allow(words)
        }
    }

    private func allow(_ words: [String]) {
        let event = words.joined(separator: " ")
        events.removeAll { $0 == event }
    }

    /// How the entry at `path` differs between the last two barriers.
    private func difference(at path: [UInt8]) throws -> Difference.Kind? {
        let path = path == Array(".".utf8) ? RelativePath.root : try #require(RelativePath(path), "\(line)")
        let left = try previous.flatMap { try sandbox.archive.entry(at: path, in: $0) }
        let right = try latest.flatMap { try sandbox.archive.entry(at: path, in: $0) }
        switch (left, right) {
        case (nil, nil): return nil
        case (nil, _?): return .added
        case (_?, nil): return .removed
        case (let left?, let right?): return left.hasSameState(as: right) ? nil : .modified
        }
    }

    /// Any event that no line expected is a failure.
    private func expectNothingElse() {
        // An entry that changes while it is read is reported and read again; a root may disappear while it is captured.
        if manner.backend == .poll { events.removeAll { $0 == "gap polling" || $0 == "fallback" } }
        let isRacing = { (event: String) in event == "problems" || event == "error noSuchDirectory" }
        let surprises = events.filter { isExact || !isRacing($0) }
        #expect(surprises.isEmpty, "\(line): unexpected events since the last barrier")
        events = []
    }
}
