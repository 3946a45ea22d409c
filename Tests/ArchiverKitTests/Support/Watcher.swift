// A watch service in a test: starts it, waits for its events, stops it.

import ArchiveStorage
import ArchiverKit
import FileIO
import Mementos
import SystemPackage
import Testing
import Watching

/// A running watch service and its events.
final class Watcher {
    let service: WatchService
    private(set) var seen: [WatchService.Event] = []
    private var events: AsyncStream<WatchService.Event>.AsyncIterator
    private let run: Task<Void, any Error>

    /// Starts a service with short delays, and waits until it watches `count` roots, or all.
    ///
    /// - Parameter configure: changes the service's options.
    init(
        _ archive: Archive, roots: [FilePath], watching count: Int? = nil,
        _ configure: (inout WatchService.Options) -> Void = { _ in }
    ) async throws {
        var options = WatchService.Options(
            WatchSettings(settle: .milliseconds(20), maxDelay: .milliseconds(300), auditInterval: .zero))
        configure(&options)
        let service = WatchService(archive, roots: roots, options)
        self.service = service
        events = service.events.events().makeAsyncIterator()
        run = Task { try await service.run() }
        for _ in 0..<(count ?? roots.count) {
            try await next { if case .watching = $0 { true } else { false } }
        }
    }

    /// Starts a service whose roots may change, and waits until it watches `count` roots.
    init(changing roots: [WatchService.Root], in archive: Archive, watching count: Int) async throws {
        var options = WatchService.Options(maintenance: nil)
        options.timeScale = 100
        let service = WatchService(archive, changing: roots, options)
        self.service = service
        events = service.events.events().makeAsyncIterator()
        run = Task { try await service.run() }
        for _ in 0..<count { try await next { if case .watching = $0 { true } else { false } } }
    }

    /// Stops the service and waits for its end.
    func end() async throws {
        service.stop()
        try await run.value
    }

    /// Waits for the next event for which `isWanted` is true.
    @discardableResult
    func next(_ isWanted: (WatchService.Event) -> Bool) async throws -> WatchService.Event {
        while true {
            let next = await events.next(isolation: #isolation)
            let event = try #require(next, "the service ended")
            seen.append(event)
            if isWanted(event) { return event }
        }
    }

    /// Waits for the next snapshot for which `isWanted` is true.
    @discardableResult
    func nextSnapshot(_ isWanted: (ListedSnapshot) throws -> Bool = { _ in true }) async throws -> ListedSnapshot {
        while true {
            let event = try await next { if case .snapshot = $0 { true } else { false } }
            if case .snapshot(let snapshot) = event, try isWanted(snapshot) { return snapshot }
        }
    }

    /// Stops the service, waits for its end, and reads all remaining events.
    func stop() async throws {
        service.stop()
        try await run.value
        try await next { if case .stopped = $0 { true } else { false } }
    }

    /// The events seen so far, by name.
    var names: [String] { seen.map(\.name) }
}

extension WatchService.Event {
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .covered: "covered"
        case .audited: "audited"
        case .starting: "starting"
        case .watching: "watching"
        case .snapshot: "snapshot"
        case .gap: "gap"
        case .fallback: "fallback"
        case .unavailable: "unavailable"
        case .available: "available"
        case .related: "related"
        case .wrongClock: "wrongClock"
        case .problems: "problems"
        case .largeFile: "largeFile"
        case .error: "error"
        case .maintained: "maintained"
        case .notMaintained: "notMaintained"
        case .replicaFailed: "replicaFailed"
        case .replicaComplete: "replicaComplete"
        case .dropped: "dropped"
        case .stopped: "stopped"
        }
    }
}
