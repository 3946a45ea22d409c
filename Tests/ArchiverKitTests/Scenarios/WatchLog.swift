// The events that a watcher reported in a scenario, in the words that scenarios use.

import ArchiveFormat
import ArchiverKit
import Mementos
import Threading

/// The events of a watcher; an event that a scenario does not expect is a failure.
final class WatchLog: Sendable {
    private struct State {
        var snapshots = 0
        var words: [String] = []
    }

    private let state = Locked(State())

    /// Events that need not be expected.
    private static let ordinary: Set = ["audit", "snapshot", "starting", "stopped", "watching"]

    /// The number of snapshots announced so far.
    var snapshots: Int { state.withLock { $0.snapshots } }

    /// Whether `event` was reported since the events were last taken.
    func hasReported(_ event: String) -> Bool { state.withLock { $0.words.contains(event) } }

    /// The events since the last call that a scenario must expect.
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
        case .fallback: note("fallback")
        case .unavailable: note("unavailable")
        case .available: note("available")
        case .related: note("related")
        case .wrongClock: note("wrong clock")
        case .problems: note("problems")
        case .largeFile: note("large file")
        case .maintained: note("maintained")
        case .replicaFailed(let name, let error): note("replica \(name) \(error.code.rawValue)")
        case .replicaComplete(let name): note("replica \(name) complete")
        case .notMaintained(let error): note("not maintained \(error.code.rawValue)")
        case .error(_, let error): note("error \(error.code.rawValue)")
        }
    }
}
