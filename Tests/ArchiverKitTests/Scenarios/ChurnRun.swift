// One run of churn: a real watcher, several processes that change its tree, and the comparison at the end.

import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What befalls the watcher while the tree changes.
enum Mishap: String, CaseIterable, CustomTestStringConvertible {
    case none
    /// It is stopped (SIGSTOP) until the kernel has dropped events.
    case stopped
    /// It is killed and started again, and again.
    case killed
    /// It has a handful of watches for the whole tree.
    case limited

    var testDescription: String { rawValue }

    /// Whether this machine lets it happen.
    var isPossible: Bool { self != .limited || Mishap.hasNamespaces }

    /// Whether this user may make user namespaces, which have limits of their own.
    private static let hasNamespaces: Bool = {
        let script = "echo 5 > /proc/sys/user/max_inotify_watches && unshare -U --map-user=1 --map-group=1 true"
        let test = Process()
        test.executableURL = URL(filePath: "/usr/bin/env")
        test.arguments = ["unshare", "-Ur", "sh", "-c", script]
        test.standardError = FileHandle.nullDevice
        guard (try? test.run()) != nil else { return false }
        test.waitUntilExit()
        return test.terminationStatus == 0
    }()
}

/// A tree, an archive and a seed; removed at the end unless something was wrong.
final class ChurnRun {
    private let mishap: Mishap
    private let base: FilePath
    private var random: SeededGenerator
    private var log = ""
    private(set) var isEvidence = false

    private var root: FilePath { base.appending("root") }
    private var archive: FilePath { base.appending("archive") }

    init(_ mishap: Mishap) throws {
        self.mishap = mishap
        random = SeededGenerator("churn, watcher \(mishap)")
        base = try Sandbox.temporaryDirectory()
        for name in ["root/many", "outside"] { try Files(base).makeDirectory(FilePath(name)) }
    }

    deinit {
        if !isEvidence { try? Files(base).removeAll() }
    }

    /// Changes the tree while it is watched, then compares.
    ///
    /// - Parameters:
    ///   - operations: how many each process tries.
    func run(operations: Int) async throws {
        do {
            var watcher = try await watch()
            let churns = try (0..<3).map { _ in try churn(operations) }
            switch mishap {
            case .none, .limited: break
            case .stopped: try await stop(watcher)
            case .killed: for _ in 1...3 { watcher = try await killed(watcher) }
            }
            for churn in churns { try await finish(churn) }
            // One change that matters, so that directories' times are captured as well.
            try Files(root).write("end", "\(random.next())")
            watcher.send(SIGTERM)
            let (status, output) = try await watcher.end()
            log += output
            try await compare(status)
        } catch {
            isEvidence = true
            throw error
        }
    }

    // MARK: Parts

    private func watch() async throws -> Program {
        var words = [
            Program.built("archiver"), "watch", root.string, "--json", "--settle", "5ms", "--max-delay", "50ms",
            "--archive", archive.string,
        ]
        if mishap == .limited {
            // Only root of a namespace may lower its limit; in a further one the user is who owns the files.
            let user = "unshare -U --map-user=\(geteuid()) --map-group=\(getegid())"
            let script = "echo 12 > /proc/sys/user/max_inotify_watches && exec \(user) \"$@\""
            words = ["unshare", "-Ur", "sh", "-c", script, "sh"] + words
        }
        let watcher = try Program(words)
        try await watcher.line { $0.contains("\"event\":\"watching\"") }
        return watcher
    }

    private func churn(_ operations: Int) throws -> Program {
        try Program([Program.built("churn"), root.string, "\(operations)", "\(random.next())"])
    }

    private func finish(_ churn: Program) async throws {
        let (status, output) = try await churn.end()
        #expect(status == 0, "\(output)")
    }

    /// Keeps the watcher from reading until far more has happened than the kernel's queue holds.
    private func stop(_ watcher: Program) async throws {
        try await watcher.line { $0.contains("\"event\":\"snapshot\"") }
        watcher.send(SIGSTOP)
        for number in 0..<7_000 { try Files(root).write("many/\(number)", "x") }
        try await finish(churn(2_000))
        watcher.send(SIGCONT)
        try await watcher.line { $0.contains("\"cause\":\"overflow\"") }
    }

    private func killed(_ watcher: Program) async throws -> Program {
        // It is at work: in the middle of something, or about to be.
        for _ in 0...random.below(3) {
            // The churn may have ended already.
            try Files(root).write("poke", "\(random.next())")
            try await watcher.line { $0.contains("\"event\":\"snapshot\"") }
        }
        watcher.send(SIGKILL)
        _ = try await watcher.end()
        return try await watch()
    }

    private func compare(_ status: Int32) async throws {
        let opened = try Archive.open(archive)
        let latest = try opened.snapshot(.latest)
        let target = base.appending("restored")
        let result = try opened.restore(latest, RestoreOptions(target: target))
        let tree = try TreeListing(of: root)
        // What has just changed may have left a directory's time for the next snapshot.
        let wrong = try TreeListing(of: target).withoutDirectoryTimes.differences(from: tree.withoutDirectoryTimes)
        let findings = try opened.check(data: true).findings
        isEvidence = !wrong.isEmpty || !findings.isEmpty || status != 0 || !result.warnings.isEmpty
        let about = Comment(rawValue: "seed \(random.seed), watcher \(mishap), evidence in \(base)")
        #expect(wrong.isEmpty, about)
        #expect(findings.isEmpty, about)
        #expect(status == 0, about)
        #expect(result.warnings.isEmpty, about)
        if mishap == .limited { #expect(log.contains("\"event\":\"degraded\""), about) }
        if isEvidence { try? log.write(toFile: base.appending("watch.log").string, atomically: true, encoding: .utf8) }
    }
}
