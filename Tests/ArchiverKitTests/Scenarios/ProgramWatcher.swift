// The real program as a scenario's watcher: `archiver watch`, asked by `archiver status`.

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

    /// - Parameter namespace: where it runs; nil for where the tests do.
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

    /// Asks until all that changed before is captured; an answer takes its time, but not as long as a capture may.
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

    // MARK: What only a process can be done to

    /// Waits until the watcher tells `event`, unless it already has since the last barrier.
    func wait(for event: String) async throws {
        if log.hasTold(event) { return }
        try await wait { $0 == event }
    }

    func send(_ signal: CInt) { program?.send(signal) }

    /// Ends it in the midst of whatever it does.
    func kill() async throws {
        send(SIGKILL)
        #expect(try await end() == -SIGKILL)
    }

    // MARK: -

    /// Takes in what it tells up to its end.
    ///
    /// - Returns: its exit status, minus the signal's number where one ended it.
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

    /// A command of archiver, run where the watcher runs.
    private func command(_ words: [String]) -> [String] {
        let words = [BuiltProgram.path(of: "archiver")] + words + ["--archive", archive.string]
        return namespace.map { $0.entered(Namespace.asUser + words) } ?? words
    }
}

// MARK: - What the program writes

extension ProgramWatcher {
    /// What `status --json` says of the one root.
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

        /// Whether something that changed before the question may not be captured yet.
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

    /// A line of `watch --json` as the word for its event that scenarios use.
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
