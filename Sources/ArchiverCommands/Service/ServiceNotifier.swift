// What the service tells the service manager: ready, status, alive, reloading, stopping (sd_notify(3)).

internal import FileIO
internal import Glibc
internal import Threading

/// The service manager's side of the service: silent if no manager started it.
final class ServiceNotifier: Sendable {
    private struct State {
        var isReady = false
        var status = ""
        /// The tasks that prove at intervals that the service works.
        var tasks: [Task<Void, Never>] = []
    }

    private let socket: NotifySocket?
    /// How often the manager wants a sign of life; nil if it does not.
    private let watchdog: Duration?
    private let state = Locked(State())

    /// How long the manager waits after each sign of life, while the first captures run.
    private static let extensionSeconds = 60
    /// The pause before the watch loop is asked again whether it has begun.
    private static let beginning = Duration.milliseconds(50)

    init(_ socket: NotifySocket?, watchdog: Duration? = nil) {
        self.socket = socket
        self.watchdog = watchdog
    }

    /// The notifier for this process's environment; clears the variables, so that no child answers in its place.
    static func ofEnvironment() -> ServiceNotifier {
        defer { for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) } }
        let socket = variable("NOTIFY_SOCKET").flatMap { NotifySocket(Array($0.utf8)) }
        let isMine = variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        return ServiceNotifier(socket, watchdog: isMine ? microseconds.map { .microseconds($0) } : nil)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Shows what the service does.
    func show(_ status: String) {
        let isNew = state.withLock { state in
            defer { state.status = status }
            return state.status != status
        }
        if isNew { socket?.send("STATUS=\(status)") }
    }

    /// Asks for more time to start.
    func extend() { socket?.send("EXTEND_TIMEOUT_USEC=\(ServiceNotifier.extensionSeconds * 1_000_000)") }

    /// Everything is watched and compared.
    func ready() {
        let isFirst = state.withLock { state in
            defer { state.isReady = true }
            return !state.isReady
        }
        if isFirst { deliver { $0.send("READY=1") } }
    }

    func beginReload() {
        deliver { $0.send("RELOADING=1", "MONOTONIC_USEC=\(CurrentProcess.monotonicNanoseconds / 1000)") }
    }

    /// The reload is done, or has failed, and the service goes on.
    func endReload() { deliver { $0.send("READY=1") } }

    func stopping() { deliver { $0.send("STOPPING=1") } }

    /// Sends what the manager must get; waits up to a second if its queue is full.
    private func deliver(_ send: (NotifySocket) -> Bool) {
        guard let socket else { return }
        for _ in 0..<ServiceNotifier.attempts {
            if send(socket) { return }
            usleep(ServiceNotifier.attemptMicroseconds)
        }
    }

    private static let attempts = 50
    private static let attemptMicroseconds: UInt32 = 20_000

    /// Starts to prove that the service works: for a longer start until it is ready, and then for the watchdog.
    ///
    /// - Parameter pulse: returns once the watch loop has come round; false if there is no loop yet. If it does not
    ///   return, no sign of life is sent.
    func begin(_ pulse: @escaping @Sendable () async -> Bool) {
        guard let socket else { return }
        let period =
            watchdog.map { min($0 / 3, .seconds(ServiceNotifier.extensionSeconds / 3)) }
            ?? .seconds(ServiceNotifier.extensionSeconds / 3)
        let (isWatched, limit) = (watchdog != nil, ServiceNotifier.extensionSeconds * 1_000_000)
        let task = Task { [weak self] in
            while !Task.isCancelled {
                let isAlive = await pulse()
                guard let self else { return }
                if isAlive, isWatched { socket.send("WATCHDOG=1") }
                if isAlive, !self.state.withLock({ $0.isReady }) { socket.send("EXTEND_TIMEOUT_USEC=\(limit)") }
                do { try await Task.sleep(for: isAlive ? period : ServiceNotifier.beginning) } catch { return }
            }
        }
        state.withLock { $0.tasks.append(task) }
    }

    /// Sends no further signs of life.
    func end() {
        let tasks = state.withLock { state in
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }
}
