// Changes how a root is watched while it is being watched.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import Capturing
internal import Exclusions
internal import FileIO
internal import FileWatching
internal import Roots
internal import Threading
internal import WatchControl

extension WatchedRoot {
    /// The exclusion rules.
    var rules: ExclusionRules { rulesAndSettings.withLock { $0.rules } }
    /// How changes are gathered.
    var settings: WatchSettings { rulesAndSettings.withLock { $0.settings } }

    private var timing: WatchTiming { WatchTiming(settings, timeScale: service.options.timeScale) }

    /// Applies the remembered settings, and `rules` if given; returns when they are in force and newly included files
    /// are captured.
    func configure(_ rules: ExclusionRules?) async throws(ArchiverError) {
        guard state.phase == .watching else {
            throw ArchiverError(
                .noSuchDirectory, "\(path) is \(state.phase.rawValue): its watcher cannot apply settings now",
                remedy: "try again when it is watched", path: path)
        }
        let remembered = WatchSettingsFile(of: path, in: service.archive.latest.store.layout).read()
        rulesAndSettings.withLock { $0.settings = remembered }
        watch.retime(timing)
        largeFiles.rule = LargeFileRule(remembered)
        readings.follow(self)
        audits.begin(on: self)
        if let rules, rules != self.rules { try await follow(rules) }
    }

    /// Restarts the watch with other rules.
    private func follow(_ rules: ExclusionRules) async throws(ArchiverError) {
        // Changes until now are captured under the old rules.
        await settle()
        let start = Timestamp.now
        rulesAndSettings.withLock { $0.rules = rules }
        var retries = retries
        while true {
            do {
                _ = try await watch.restart(rules: rules, timing: timing)
                break
            } catch {
                if shouldStop { throw ArchiverError(error) }
                service.report(.error(root: path, ArchiverError(error)))
                await ending.pause(retries.next())
            }
        }
        state.enter(.watching)
        // Files that existed only while the watches were recreated may be missing.
        await gaps.record(.downtime, from: start)
        watch.markDirty([.subtree(.root)])
        await settle()
    }
}

extension WatchTiming {
    init(_ settings: WatchSettings, timeScale: Int) {
        self.init(settle: settings.usedSettle, maxDelay: settings.usedMaxDelay, timeScale: timeScale)
    }
}
