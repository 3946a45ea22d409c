// What a watcher told while a scenario ran, in the words that scenarios use.

import ArchiveFormat
import ArchiverKit
import Mementos
import Synchronization

/// The events of a watcher that a scenario may expect; any other one is a finding.
final class WatchLog: Sendable {
    private struct State {
        var snapshots = 0
        var hasBegun = false
        var events: [String] = []
    }

    private let state = Mutex(State())

    /// Snapshots announced so far.
    var snapshots: Int { state.withLock { $0.snapshots } }
    /// Whether the first capture has begun or watching has ended.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// The events since the last call.
    func takeEvents() -> [String] {
        state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    func begin() { state.withLock { $0.hasBegun = true } }

    func noteSnapshot() { state.withLock { $0.snapshots += 1 } }

    func note(_ event: String) { state.withLock { $0.events.append(event) } }

    func note(_ event: WatchService.Event) {
        switch event {
        case .starting: begin()
        case .audited: break
        case .waiting: note("waiting")
        case .covered: note("covered")
        case .snapshot: noteSnapshot()
        case .watching, .stopped: break
        case .gap(let gap): note("gap \(gap.cause.rawValue)")
        case .degraded: note("degraded")
        case .unavailable: note("unavailable")
        case .available: note("available")
        case .problems: note("problems")
        case .error(_, let error): note("error \(error.code)")
        }
    }
}
