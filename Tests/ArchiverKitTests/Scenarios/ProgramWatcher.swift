// The real program as a scenario's watcher: `archiver watch`, queried by `archiver status`.

import ArchiverKit
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A process that watches a root.
final class ProgramWatcher: ScenarioWatcher {
    let log = WatchLog()
    private let archive: FilePath
    private let root: FilePath
    private let namespace: Namespace?
    private var program: Program?

    /// - Parameter namespace: the namespace to run in; nil for none.
    init(_ archive: FilePath, root: FilePath, in namespace: Namespace?) {
        self.archive = archive
        self.root = root
        self.namespace = namespace
    }

    // MARK: Watching

    func start(_ options: WatchService.Options, until readiness: Readiness) async throws {
        var words = [
            "watch", root.string, "--json", "--settle", ProgramWatcher.word(options.settings.usedSettle),
            "--max-delay", ProgramWatcher.word(options.settings.usedMaxDelay), "--backend", options.backend.rawValue,
            "--audit-interval", "0s",
        ]
        if options.waitsForRoots { words.append("--wait") }
        program = try Program(command(words))
        switch readiness {
        case .watching: try await wait { $0 == "watching" }
        case .begun: try await wait { $0 == "starting" }
        case .waiting: try await wait { ["waiting", "watching"].contains($0) }
        }
    }

    /// Queries until all earlier changes are captured; an answer takes time, but less than a capture may.
    func settle() async throws {
        var answer: Answer
        repeat { answer = try await ask() } while answer.isBehind
        take(program?.takeLines() ?? [])
        if !answer.well { log.note("unwell") }
    }

    func audit() async throws {
        let (status, output) = try await Program(command(["audit", root.string])).end()
        #expect(status == 0, "\(output)")
        take(program?.takeLines() ?? [])
    }

    func stop() async throws {
        program?.send(SIGTERM)
        let status = try await end()
        #expect(status == 0)
    }

    // MARK: Signals and events

    /// Waits until the watcher reports `event`, unless it already has since the last barrier.
    func wait(for event: String) async throws {
        if log.hasReported(event) { return }
        try await wait { $0 == event }
    }

    func send(_ signal: CInt) { program?.send(signal) }

    /// Kills it in the middle of its work.
    func kill() async throws {
        send(SIGKILL)
        #expect(try await end() == -SIGKILL)
    }

    // MARK: -

    /// Records its output up to its end.
    ///
    /// - Returns: its exit status, or minus the signal's number if a signal ended it.
    private func end() async throws -> CInt? {
        defer { program = nil }
        while let line = await program?.nextLine() { take([line]) }
        return try await program?.end().status
    }

    private func wait(where isAwaited: (String) -> Bool) async throws {
        try await program?.line { line in
            take([line])
            return isAwaited(ProgramWatcher.word(line))
        }
    }

    private func take(_ lines: [String]) {
        for line in lines { log.note(ProgramWatcher.word(line)) }
    }

    /// An archiver command, run where the watcher runs.
    private func command(_ words: [String]) -> [String] {
        let words = [BuiltProgram.path(of: "archiver")] + words + ["--archive", archive.string]
        return namespace.map { $0.entered(Namespace.asUser + words) } ?? words
    }
}

// MARK: - The program's output

extension ProgramWatcher {
    /// The output of `status --json` about the one root.
    private struct Answer: Decodable {
        struct Root: Decodable {
            let well: Bool
            let watcher: Watcher?
        }

        struct Watcher: Decodable {
            let phase: String
            let current: Bool
        }

        let well: Bool
        let roots: [Root]

        /// Whether some earlier change may not be captured yet.
        var isBehind: Bool {
            roots.contains { root in
                guard let watcher = root.watcher else { return false }
                return watcher.phase == "reading" || watcher.phase == "watching" && !watcher.current
            }
        }
    }

    private func ask() async throws -> Answer {
        let words = ["status", root.string, "--json", "--patience", "100s"]
        let (status, output) = try await Program(command(words)).end()
        let answer = try JSONDecoder().decode(Answer.self, from: Data(output.utf8))
        #expect(status == (answer.well ? 0 : 1), "\(output)")
        return answer
    }

    /// The scenario's word for the event in a line of `watch --json`.
    private static func word(_ line: String) -> String {
        struct Event: Decodable {
            let event: String
            let cause: String?
            let code: String?
        }
        guard let event = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)) else { return line }
        switch event.event {
        case "gap": return "gap \(event.cause ?? "")"
        case "error": return "error \(event.code ?? "")"
        default: return event.event
        }
    }

    private static func word(_ duration: Duration) -> String {
        "\(duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000)ms"
    }
}
