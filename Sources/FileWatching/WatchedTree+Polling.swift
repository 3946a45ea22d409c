// The directories of a root that no backend watches: looked at, with all that is below them, at intervals.

internal import FileIO
internal import Mementos

extension WatchedTree {
    /// Whether the whole root is polled, whatever could be watched.
    var isPolledWhole: Bool { deafness != nil || sources.isEmpty }

    /// Looks at what is polled, when its time has come, and tries again to watch it.
    func pollUnwatched() {
        guard phase == .armed, polling.isDue(at: hooks.now()) else { return }
        sources.reopen()
        for node in tracker.tree.polled {
            if let place = tracker.tree.place(of: node) {
                tracker.pending.append(CrawlItem(place.name, in: place.parent, reports: true))
            } else {
                tracker.pending.append(.root(reports: true))
            }
        }
        polling.begin(at: hooks.now())
    }

    /// Records how a look at polled ranges went.
    func polled(found: Bool, took: Duration) {
        polling.finish(found: found, took: took, at: hooks.now())
    }

    /// Puts everything that is polled into the next batch.
    func markPolled() {
        for node in tracker.tree.polled {
            if let path = tracker.tree.path(of: node) { markPolled(path) }
        }
    }

    func markPolled(_ path: RelativePath) {
        polledPaths.insert(path)
        mark(.subtree(path))
    }

    /// Starts or ends the polling as the last crawls require.
    func followPolling() {
        if tracker.tree.polled.isEmpty {
            polling.stop()
            endGap(.polling)
        } else if polling.next == nil {
            polling.start(at: hooks.now())
            gaps.begin(.polling, at: .now)
        }
    }

    /// Tells each cause for which the root is not watched as it should be, once.
    func reportDegradation() {
        if let deafness { report(deafness) }
        if sources.isEmpty, let limit = sources.missingInotify { shortages.insert(limit) }
        let stats = tracker.tree.stats
        for limit in shortages.sorted(by: { $0.rawValue < $1.rawValue }) {
            let needed = stats.watchedDirectories + stats.polledDirectories
            report(.limit(limit, needed: needed, limit: KernelLimits.current[limit]))
        }
    }

    private func report(_ degradation: Degradation) {
        if told.insert(degradation.kind).inserted { settings.events.send(.degraded(degradation)) }
    }
}
