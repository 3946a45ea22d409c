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
enum Mishap: String, CaseIterable {
    case none
    /// It is stopped (SIGSTOP) until the kernel has dropped events.
    case stopped
    /// It is killed and started again, and again.
    case killed
    /// It compares everything all the time.
    case audited
    /// It has a handful of watches and marks for the whole tree.
    case limited
}

/// A mishap, and how changes are noticed meanwhile.
struct ChurnVariant: Sendable, CustomTestStringConvertible {
    let mishap: Mishap
    let backend: WatchService.Backend

    var testDescription: String { "\(mishap), \(backend.rawValue)" }

    /// Those that make sense and that this machine allows.
    static let all = Mishap.allCases.flatMap { mishap in
        WatchService.Backend.available
            .filter { isPossible(mishap, $0) }
            .map { ChurnVariant(mishap: mishap, backend: $0) }
    }

    private static func isPossible(_ mishap: Mishap, _ backend: WatchService.Backend) -> Bool {
        switch mishap {
        // Without limits what is chosen is inotify.
        case .none, .killed: backend != .auto
        case .audited: backend == .inotify
        case .stopped: backend != .auto && backend != .poll
        case .limited: backend != .poll && Namespace.isPossible
        }
    }

    /// Whether every change that leaves a file's times as they were gives an event that the watcher sees.
    var hearsEverything: Bool { mishap == .none && backend != .poll }
}

/// A tree, an archive and a seed; removed at the end unless something was wrong.
final class ChurnRun {
    private let variant: ChurnVariant
    private let base: FilePath
    private var random: SeededGenerator
    private var log = ""
    private(set) var isEvidence = false
    /// How many operations have changed something.
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
    ///   - operations: how many each process tries.
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

    /// Keeps the watcher from reading until more has happened than the kernel's queue of 16,384 events holds.
    private func stop(_ watcher: Program, _ operations: Int) async throws {
        try await watcher.line { $0.contains("\"event\":\"snapshot\"") }
        watcher.send(SIGSTOP)
        let place = Files(root.appending("many"))
        try place.write("0", "x")
        // Events of one name may be merged, those of two are not.
        for number in 1...17_000 { try place.rename(FilePath("\(number - 1)"), to: FilePath("\(number)")) }
        try await finish(churn(operations))
        watcher.send(SIGCONT)
        try await watcher.line { $0.contains("\"cause\":\"overflow\"") }
    }

    /// Ends the watcher in the midst of things, and starts another.
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
        let result = try opened.restore(latest, RestoreOptions(target: target))
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
            #expect(log.contains("\"event\":\"degraded\"") && log.contains("\"cause\":\"polling\""), about)
        }
        if isEvidence { try? log.write(toFile: base.appending("watch.log").string, atomically: true, encoding: .utf8) }
    }
}
