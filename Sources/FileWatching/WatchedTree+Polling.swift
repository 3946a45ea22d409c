// Polls the directories of a root that no backend watches, with everything below them.

internal import FileIO
internal import Mementos

extension WatchedTree {
    /// Whether the entire root is polled.
    var isPolledWhole: Bool { fallbackOfRoot != nil || sources.isEmpty }

    /// Crawls the polled directories if a poll is due, and retries watching them.
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

    /// Records the result of scanning polled ranges.
    func polled(found: Bool, took: Duration) {
        polling.finish(found: found, took: took, at: hooks.now())
    }

    /// Adds all polled directories to the next batch.
    func markPolled() {
        for node in tracker.tree.polled {
            if let path = tracker.tree.path(of: node) { markPolled(path) }
        }
    }

    func markPolled(_ path: RelativePath) {
        polledPaths.insert(path)
        mark(.subtree(path))
    }

    /// Starts or stops polling, depending on the last crawls.
    func followPolling() {
        if tracker.tree.polled.isEmpty {
            polling.stop()
            endGap(.polling)
        } else if polling.next == nil {
            polling.start(at: hooks.now())
            gaps.begin(.polling, at: .now)
        }
    }

    /// Reports, once per cause, why the root is not watched by the preferred backend.
    func reportFallbacks() {
        if let fallbackOfRoot { report(fallbackOfRoot) }
        if sources.isEmpty, let limit = sources.missingInotify { shortages.insert(limit) }
        let stats = tracker.tree.stats
        for limit in shortages.sorted(by: { $0.rawValue < $1.rawValue }) {
            let needed = stats.watchedDirectories + stats.polledDirectories
            report(.limit(limit, needed: needed, limit: KernelLimits.current[limit]))
        }
    }

    private func report(_ fallback: Fallback) {
        if reported.insert(fallback.kind).inserted { settings.events.send(.fallback(fallback)) }
    }
}
