// Slow observers of a watch service.

import ArchiveFormat
import ArchiverKit
import Dispatch
import Mementos
import SystemPackage
import TestTraits
import Testing
import Threading

@Suite(.timeLimit(.minutes(60)), .blocking) struct SlowObserverTests {
    /// An observer that blocks until it is released.
    private final class SlowObserver: Sendable {
        let seen = Locked<[WatchService.Event]>([])
        private let gate = DispatchSemaphore(value: 0)
        private let isHeldUp = Locked(true)

        func take(_ event: WatchService.Event) {
            if isHeldUp.withLock({ $0 }) { gate.wait() }
            seen.withLock { $0.append(event) }
        }

        func goOn() {
            isHeldUp.withLock { $0 = false }
            gate.signal()
        }
    }

    @Test("an observer that never returns delays no capture, and gets the number of missed events in their place")
    func heldUp() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "0")
        var options = WatchService.Options(
            WatchSettings(settle: .zero, maxDelay: .zero, auditInterval: .zero))
        options.eventLimit = 4
        let service = WatchService(sandbox.archive, roots: [sandbox.root.directory], options)
        let observer = SlowObserver()
        let subscription = service.events.subscribe(observer.take)
        let run = Task { try await service.run() }
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        for number in 1...10 {
            try sandbox.root.write("file", "\(number)")
            // The watcher answers after it has captured that.
            _ = try await onThread {
                while (try? archive.status(of: path, patience: .seconds(1500)))?.roots.first?.watcher?.isCurrent != true
                {
                }
            }
        }
        let latest = try sandbox.archive.snapshot(.latest)
        #expect(try sandbox.archive.entry(at: .at("file"), in: latest)?.content == .inline(Array("10".utf8)))
        let count = try sandbox.archive.snapshots().count
        observer.goOn()
        try await service.settle()
        service.stop()
        try await run.value
        withExtendedLifetime(subscription) {}

        let seen = observer.seen.withLock { $0 }
        let dropped = seen.compactMap { event -> Int? in
            if case .dropped(let events, warnings: 0) = event { events } else { nil }
        }
        let reported = seen.count { if case .dropped = $0 { false } else { true } }
        #expect(dropped.count == 1, "\(seen)")
        // One event for each snapshot after the first, and starting, watching, stopped.
        #expect(reported + dropped.reduce(0, +) == count - 1 + 3, "\(seen)")
        if case .stopped = seen.last {} else { Issue.record("the end is not reported: \(seen)") }
    }

    @Test("at the end, the service waits for an observer that never returns, but not for ever")
    func neverReturns() async throws {
        let sandbox = try Sandbox()
        let service = WatchService(sandbox.archive, roots: [sandbox.root.directory])
        let observer = SlowObserver()
        let subscription = service.events.subscribe(observer.take)
        let run = Task { try await service.run() }
        try sandbox.root.write("last", "x")
        service.stop()
        try await run.value
        let latest = try sandbox.archive.snapshot(.latest)
        #expect(try sandbox.archive.entry(at: .at("last"), in: latest) != nil)
        observer.goOn()
        withExtendedLifetime(subscription) {}
    }
}
