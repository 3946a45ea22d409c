// How signals end `watch`.

internal import ArchiverKit
internal import Glibc
internal import Threading

/// Takes the signals that ask for the end: the first has a last capture made, an impatient second one ends at once.
final class WatchEnding: Sendable {
    private struct State {
        var service: WatchService?
        var report: WatchReport?
        /// Ctrl-C and SIGTERM so far; closing a terminal sends its signal more than once.
        var requests = 0
    }

    private let state = Locked(State())

    /// From now on there is something to be ended.
    func begin(_ service: WatchService, _ report: WatchReport) {
        state.withLock { ($0.service, $0.report) = (service, report) }
    }

    /// Does what `signal` asks for.
    func handle(_ signal: CInt, _ count: Int) {
        let (service, report, requests) = state.withLock { state in
            if signal != SIGHUP { state.requests += 1 }
            return (state.service, state.report, state.requests)
        }
        // What is in the archive is safe at every moment, so that nothing has to be waited for.
        guard let service, requests < 2 else { _exit(128 + signal) }
        service.stop()
        if signal == SIGINT { report?.remark("ending after a last capture; interrupt again to leave at once") }
    }
}
