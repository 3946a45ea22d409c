// The watchers that can run a scenario.

import ArchiverKit
import FileWatching
import Mementos
import SystemPackage
import TreeScripts

/// How a scenario's tree is watched.
struct Manner: Sendable, CustomStringConvertible {
    /// When changes are captured.
    enum Pace: String, CaseIterable {
        /// Only when the scenario settles, so the result of each step is deterministic.
        case patient
        /// Immediately and all the time, so captures meet a tree that is changing.
        case eager
    }

    let backend: WatchBackend
    let pace: Pace

    var description: String { "\(backend.rawValue), \(pace.rawValue)" }

    var options: WatchService.Options {
        var options = WatchService.Options(WatchSettings(auditInterval: .zero), backend: backend)
        (options.settings.settle, options.settings.maxDelay) =
            pace == .patient ? (.seconds(600), .seconds(600)) : (.milliseconds(1), .milliseconds(3))
        return options
    }

    /// The manners to run a script in; a polled tree is captured only at barriers.
    static func all(for script: Script) -> [Manner] {
        WatchBackend.available
            .filter { $0 != .auto || script.uses("limit") }
            .filter { $0 != .poll || !script.requirements.contains("events") }
            .flatMap { backend in
                Pace.allCases.filter { backend != .poll || $0 == .patient }.map { Manner(backend: backend, pace: $0) }
            }
    }
}

extension WatchBackend {
    /// The backends that this machine has.
    static let available = allCases.filter { $0 != .fanotify || (try? TreeWatcher(backend: .fanotify)) != nil }
}

/// How far the watcher must be before a scenario continues.
enum Readiness {
    /// The root is watched and captured.
    case watching
    /// The root is being read for the first time.
    case begun
    /// The root is watched, or is missing and waited for.
    case waiting
}

/// Watches a root for a scenario.
protocol ScenarioWatcher {
    var log: WatchLog { get }
    /// Starts watching.
    ///
    /// - Throws: the watcher's error if it refuses.
    func start(_ options: WatchService.Options, until readiness: Readiness) async throws
    /// Returns once every earlier change is captured and durable.
    func settle() async throws
    /// Returns once everything was audited, and changes without an event are captured.
    func audit() async throws
    /// Captures a last time and stops.
    func stop() async throws
}

/// A service in this process.
final class ServiceWatcher: ScenarioWatcher {
    let log = WatchLog()
    private let archive: Archive
    private let root: FilePath
    private var service: WatchService?
    private var subscription: Subscription?
    private var run: Task<Void, any Error>?

    init(_ archive: Archive, root: FilePath) {
        self.archive = archive
        self.root = root
    }

    func start(_ options: WatchService.Options, until readiness: Readiness) async throws {
        let service = WatchService(archive, roots: [root], options)
        let (steps, step) = AsyncStream<WatchService.Event>.makeStream()
        let log = log
        subscription = service.events.subscribe { event in
            log.note(event)
            step.yield(event)
        }
        let run = Task {
            defer { step.finish() }
            try await service.run()
        }
        self.service = service
        self.run = run
        for await event in steps {
            switch event {
            case .starting: if readiness == .begun { return }
            case .waiting: if readiness == .waiting { return }
            case .watching: return
            default: break
            }
        }
        try await run.value
    }

    func settle() async throws { try await service?.settle() }

    func audit() async throws { _ = try await service?.audit() }

    func stop() async throws {
        service?.stop()
        try await run?.value
        service = nil
    }
}
