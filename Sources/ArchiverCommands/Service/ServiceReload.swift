// Takes over changes of the configuration file while the service runs.

internal import ArchiverKit
internal import Configuring
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading
internal import WatchControl

/// Passes SIGHUP on, also to a service that has not begun yet.
final class ServiceSignals: Sendable {
    private let reloading = Locked<ServiceReload?>(nil)

    func begin(_ reload: ServiceReload) { reloading.withLock { $0 = reload } }

    /// Before the service has begun, it has not taken over anything that could have changed.
    func reload() {
        guard let reload = reloading.withLock({ $0 }) else { return }
        Task { _ = await reload.run() }
    }
}

/// The reloads of one service, one after another.
final class ServiceReload: Sendable {
    private let file: ConfigurationFile
    private let service: WatchService
    private let archive: Archive
    private let notifier: ServiceNotifier
    private let report: WatchReport
    /// The options of the command line, which override the file.
    private let events: EventOptions
    private let present: Locked<ServiceConfiguration>
    /// The latest reload; each waits for the one before.
    private let latest = Locked<Task<Result<String, ArchiverError>, Never>?>(nil)

    init(
        _ file: ConfigurationFile, _ service: WatchService, _ archive: Archive, _ present: ServiceConfiguration,
        _ notifier: ServiceNotifier, _ report: WatchReport, _ events: EventOptions
    ) {
        self.file = file
        self.service = service
        self.archive = archive
        self.notifier = notifier
        self.report = report
        self.events = events
        self.present = Locked(present)
    }

    func answer(_ request: ControlRequest) async -> ControlResponse {
        guard request.action == .reload else { return .notUnderstood }
        switch await run() {
        case .success(let change): return ControlResponse(reloaded: change)
        case .failure(let error): return ControlResponse(failure: error)
        }
    }

    /// Reads the file and applies it; if it is wrong, the service goes on with what it had.
    ///
    /// - Returns: what has changed, in a sentence.
    func run() async -> Result<String, ArchiverError> {
        let task = latest.withLock { latest in
            let former = latest
            let task = Task { () -> Result<String, ArchiverError> in
                _ = await former?.value
                self.notifier.beginReload()
                defer { self.notifier.endReload() }
                do throws(ArchiverError) { return .success(try await self.apply()) } catch { return self.refuse(error) }
            }
            latest = task
            return task
        }
        return await task.value
    }

    private func refuse(_ error: ArchiverError) -> Result<String, ArchiverError> {
        let remedy = error.remedy.map { " — \($0)" } ?? ""
        report.warn("\(error.message)\(remedy); the service goes on with what it had")
        return .failure(error)
    }

    private func apply() async throws(ArchiverError) -> String {
        let (file, archive, former) = (file, archive, present.withLock { $0 })
        let (new, settings) = try await Blocking.run { [events] () throws(ArchiverError) in
            let new = try ServiceConfiguration(file)
            guard new.archive == former.archive else {
                throw ArchiverError(
                    .unsuitableSettings,
                    "\(file.path): another archive takes effect only when the service starts again",
                    remedy: "restart the service", path: file.path)
            }
            let settings: EventSettings
            do throws(Failure) { settings = try events.settings(for: new) } catch {
                throw ArchiverError(.unsuitableSettings, error.message, remedy: error.remedy)
            }
            try new.apply(to: archive)
            return (new, settings)
        }
        let failures = await service.change(to: new.watched)
        present.withLock { $0 = new }
        report.change(to: settings)
        if let first = failures.min(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }) { throw first.value }
        let words = ServiceReload.words(former, new)
        report.remark(words)
        return words
    }

    /// What has changed: "The service has taken over …/config.toml: 1 root added, 2 roots changed".
    private static func words(_ former: ServiceConfiguration, _ new: ServiceConfiguration) -> String {
        let (old, present) = (Set(former.watched), Set(new.watched))
        let (oldPaths, paths) = (Set(former.roots.map(\.path)), Set(new.roots.map(\.path)))
        let changed = present.subtracting(old).count { oldPaths.contains($0.path) }
        let counts = [
            (paths.subtracting(oldPaths).count, "added"), (oldPaths.subtracting(paths).count, "removed"),
            (changed, "changed"),
        ]
        let parts = counts.filter { $0.0 > 0 }.map { "\(Plural.of($0.0, "root")) \($0.1)" }
        let what = parts.isEmpty ? "no root has changed" : parts.joined(separator: ", ")
        return "The service has taken over \(Escaping.text(new.document.file.bytes)): \(what)."
    }
}
