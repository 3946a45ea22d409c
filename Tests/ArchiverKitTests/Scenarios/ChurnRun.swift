// One churn run: a real watcher, several processes that change its tree, and a comparison at the end.

import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What happens to the watcher while the tree changes.
enum Mishap: String, CaseIterable {
    case none
    /// The watcher is stopped (SIGSTOP) until the kernel has dropped events.
    case stopped
    /// The watcher is killed and restarted several times.
    case killed
    /// The watcher audits the tree all the time.
    case audited
    /// The watcher has only a few watches and marks for the whole tree.
    case limited
}

/// A mishap, and the backend of the watcher.
struct ChurnVariant: Sendable, CustomTestStringConvertible {
    let mishap: Mishap
    let backend: WatchBackend

    var testDescription: String { "\(mishap), \(backend.rawValue)" }

    /// The variants that make sense and that this machine allows.
    static let all = Mishap.allCases.flatMap { mishap in
        WatchBackend.available
            .filter { isPossible(mishap, $0) }
            .map { ChurnVariant(mishap: mishap, backend: $0) }
    }

    private static func isPossible(_ mishap: Mishap, _ backend: WatchBackend) -> Bool {
        switch mishap {
        // Without limits, `auto` chooses inotify.
        case .none, .killed: backend != .auto
        case .audited: backend == .inotify
        case .stopped: backend != .auto && backend != .poll
        case .limited: backend != .poll && Namespace.isPossible
        }
    }

    /// Whether the watcher sees an event for every change, even one that does not change a file's times.
    var hearsEverything: Bool { mishap == .none && backend != .poll }
}

/// A tree, an archive and a seed; removed at the end unless a difference was found.
final class ChurnRun {
    private let variant: ChurnVariant
    private let base: FilePath
    private var random: SeededGenerator
    private var log = ""
    private(set) var isEvidence = false
    /// The number of operations that changed something.
    private(set) var changes = 0

    private var root: FilePath { base.appending("root") }
    private var archive: FilePath { base.appending("archive") }

    init(_ variant: ChurnVariant) throws {
        self.variant = variant
        random = SeededGenerator("churn, \(variant.testDescription)")
        base = try TemporaryDirectory.create()
        for name in ["root/many", "outside"] { try Files(base).makeDirectory(FilePath(name)) }
    }

    deinit {
        if !isEvidence { try? Files(base).removeAll() }
    }

    /// Changes the tree while it is watched, then compares.
    ///
    /// - Parameters:
    ///   - operations: the number of operations that each process tries.
    func run(operations: Int) async throws {
        do {
            var watcher = try await watch()
            let churns = try (0..<3).map { _ in try churn(operations) }
            switch variant.mishap {
            case .none, .audited, .limited: break
            case .stopped: try await stop(watcher, operations / 4)
            case .killed: for _ in 1...3 { watcher = try await killed(watcher, operations / 4) }
            }
            for churn in churns { try await finish(churn) }
            // A last change of content, so that the times of directories are captured too.
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
            BuiltProgram.path(of: "archiver"), "watch", root.string, "--json", "--settle", "5ms", "--max-delay", "50ms",
            "--archive", archive.string, "--backend", variant.backend.rawValue,
        ]
        if variant.mishap == .audited { words += ["--audit-interval", "2ms", "--time-scale", "1000"] }
        if variant.mishap == .limited {
            let script = "\(Namespace.limiting(to: 12)) && exec \"$@\""
            words = ["unshare", "-Ur", "sh", "-c", script, "sh"] + Namespace.asUser + words
        }
        let watcher = try Program(words)
        try await watcher.line { $0.contains("\"event\":\"watching\"") }
        return watcher
    }

    private func churn(_ operations: Int) throws -> Program {
        let words = [BuiltProgram.path(of: "churn"), root.string, "\(operations)", "\(random.next())"]
        return try Program(words + (variant.hearsEverything ? [] : ["touch"]))
    }

    private func finish(_ churn: Program) async throws {
        let (status, output) = try await churn.end()
        #expect(status == 0, "\(output)")
        changes += output.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    /// Stops the watcher until more events have happened than fit into the kernel's queue of 16,384.
    private func stop(_ watcher: Program, _ operations: Int) async throws {
        try await watcher.line { $0.contains("\"event\":\"snapshot\"") }
        watcher.send(SIGSTOP)
        let place = Files(root.appending("many"))
        try place.write("0", "x")
        // The kernel may merge events of one name, but not of two names.
        for number in 1...17_000 { try place.rename(FilePath("\(number - 1)"), to: FilePath("\(number)")) }
        try await finish(churn(operations))
        watcher.send(SIGCONT)
        try await watcher.line { $0.contains("\"cause\":\"overflow\"") }
    }

    /// Kills the watcher in the middle of its work, and starts another.
    private func killed(_ watcher: Program, _ operations: Int) async throws -> Program {
        try await finish(churn(1 + random.below(operations)))
        watcher.send(SIGKILL)
        log += try await watcher.end().output
        return try await watch()
    }

    private func compare(_ status: Int32) async throws {
        let opened = try Archive.open(archive)
        let latest = try opened.snapshot(.latest)
        let target = base.appending("restored")
        let result = try await opened.restore(latest, RestoreOptions(target: target))
        let tree = try TreeListing(of: root)
        let wrong = try TreeListing(of: target).differences(from: tree)
        let findings = try opened.check(data: true).findings
        isEvidence = !wrong.isEmpty || !findings.isEmpty || status != 0 || !result.warnings.isEmpty
        let about = Comment(rawValue: "seed \(random.seed), \(variant.testDescription), evidence in \(base)")
        #expect(wrong.isEmpty, about)
        #expect(findings.isEmpty, about)
        #expect(status == 0, about)
        #expect(result.warnings.isEmpty, about)
        if variant.mishap == .limited {
            #expect(log.contains("\"event\":\"fallback\"") && log.contains("\"cause\":\"polling\""), about)
        }
        if isEvidence { try? log.write(toFile: base.appending("watch.log").string, atomically: true, encoding: .utf8) }
    }
}
