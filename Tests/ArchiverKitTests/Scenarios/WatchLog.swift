// What a watcher told while a scenario ran, in the words that scenarios use.

import ArchiveFormat
import ArchiverKit
import Mementos
import Threading

/// The events of a watcher; those that a scenario does not expect are findings.
final class WatchLog: Sendable {
    private struct State {
        var snapshots = 0
        var words: [String] = []
    }

    private let state = Locked(State())

    /// What is told in the course of things.
    private static let ordinary: Set = ["audit", "snapshot", "starting", "stopped", "watching"]

    /// Snapshots announced so far.
    var snapshots: Int { state.withLock { $0.snapshots } }

    /// Whether `event` was told since events were taken.
    func hasTold(_ event: String) -> Bool { state.withLock { $0.words.contains(event) } }

    /// The events since the last call that a scenario has to expect.
    func takeEvents() -> [String] {
        state.withLock { state in
            defer { state.words = [] }
            return state.words.filter { !WatchLog.ordinary.contains($0) }
        }
    }

    func note(_ event: String) {
        state.withLock { state in
            state.words.append(event)
            if event == "snapshot" { state.snapshots += 1 }
        }
    }

    func note(_ event: WatchService.Event) {
        switch event {
        case .starting: note("starting")
        case .audited: note("audit")
        case .waiting: note("waiting")
        case .covered: note("covered")
        case .snapshot: note("snapshot")
        case .watching: note("watching")
        case .dropped: note("dropped")
        case .stopped: note("stopped")
        case .gap(let gap): note("gap \(gap.cause.rawValue)")
        case .degraded: note("degraded")
        case .unavailable: note("unavailable")
        case .available: note("available")
        case .problems: note("problems")
        case .largeFile: note("large file")
        case .maintained: note("maintained")
        case .notMaintained(let error): note("not maintained \(error.code.rawValue)")
        case .error(_, let error): note("error \(error.code.rawValue)")
        }
    }
}
