// Large files of a watched root: each is read on its own, and less often the longer its reading takes.

package import ArchiveFormat
package import FileIO
package import FileWatching
internal import Threading

/// The rule that decides when a large file is read.
package struct LargeFileRule: Sendable, Hashable {
    /// Files of at least this many bytes are large; nil if no file is.
    var smallest: UInt64?
    /// A large file is captured at the latest this long after a change.
    var longestDelay: Duration

    /// Reading one large file takes at most 1/`share` of the time, unless it is due because of `longestDelay`.
    package static let share = 10

    package init(smallest: UInt64?, longestDelay: Duration) {
        self.smallest = smallest
        self.longestDelay = longestDelay
    }

    /// Whether `status` is of a file whose reading may be postponed.
    ///
    /// Holes do not count. A file with several names is not large: all its names are captured together.
    func isLarge(_ status: FileStatus) -> Bool {
        guard let smallest, status.kind == .file, status.links == 1 else { return false }
        return min(status.size, status.allocatedBytes) >= smallest
    }

    /// The shortest pause after a reading that took `took`.
    package func rest(after took: Duration) -> Duration { min(took * (LargeFileRule.share - 1), longestDelay) }

    /// When to read a file that changed.
    ///
    /// - Parameter last: when its last reading ended, and how long that took; nil if it was not read yet.
    package func due(
        changed: ContinuousClock.Instant, last: (end: ContinuousClock.Instant, took: Duration)?
    ) -> ContinuousClock.Instant {
        guard let last else { return changed }
        return min(max(changed, last.end + rest(after: last.took)), changed + longestDelay)
    }
}

/// The large files of one root that have changed and are not captured yet, and how long their last reading took.
///
/// Any thread may use it.
package final class LargeFiles: Sendable {
    /// A file that has changed and is not captured yet.
    package struct Waiting {
        package let path: RelativePath
        package let bytes: UInt64
        /// When it first changed since it was captured; nil while it is being read.
        package let changed: Timestamp?
        /// When it was last captured on its own; nil if it was not yet.
        package let captured: Timestamp?
        /// How long its last reading took.
        package let readingTime: Duration?
        /// The interval between captures while it keeps changing.
        package let interval: Duration?
    }

    /// How a reading ended.
    package enum Outcome {
        /// The content that was read is in the archive, or nothing had changed.
        case captured
        /// Something else has to be captured first: the file waits for the next change batch.
        case superseded
        case failed
    }

    fileprivate struct File {
        var bytes: UInt64
        /// Its signature when its status was last read.
        var seen: Signature
        /// When it first changed since it was captured; nil if it is captured as it is.
        var changed: (instant: ContinuousClock.Instant, time: Timestamp)?
        /// When the change that caused the last reading happened.
        var begun: (instant: ContinuousClock.Instant, time: Timestamp)?
        /// When it was left to the next capture that scans it; nil if that capture is done.
        var left: ContinuousClock.Instant?
        var last: (end: ContinuousClock.Instant, took: Duration)?
        /// When it was last captured on its own.
        var captured: Timestamp?
        /// When to retry a reading that failed.
        var retry: ContinuousClock.Instant?
        /// Whether it was reported that the file is captured less often.
        var isReported = false
        var isReading = false

        /// Whether the archive may have an earlier state of it.
        var isUncaptured: Bool { changed != nil || left != nil || isReading }
    }

    fileprivate struct State {
        var rule: LargeFileRule
        var files: [RelativePath: File] = [:]
    }

    private let state: Locked<State>

    /// How many files are remembered; more are read with everything else.
    fileprivate static let limit = 4096

    package init(_ rule: LargeFileRule) { state = Locked(State(rule: rule)) }

    package var rule: LargeFileRule {
        get { state.withLock { $0.rule } }
        set { state.withLock { $0.rule = newValue } }
    }

    // MARK: What a capture finds

    /// Whether to postpone the reading of a file that may have changed; if so, the file waits from now on.
    ///
    /// A file is postponed only if the archive has an earlier state of it at this path.
    package func postpones(_ path: RelativePath, _ status: FileStatus, _ old: Entry) -> Bool {
        state.withLock { state in
            let isPostponed =
                old.kind == .file && old.linkGroup == nil && state.rule.isLarge(status)
                && (state.files[path] != nil || state.makeRoom())
            guard isPostponed else {
                state.files[path] = nil
                return false
            }
            let seen = Signature(inode: status.inode, changed: status.changed)
            var file = state.files[path] ?? File(bytes: status.size, seen: seen)
            (file.bytes, file.seen) = (status.size, seen)
            // If it was left to this capture, its change is the earlier one.
            let earlier = file.left == nil ? nil : file.begun
            if file.changed == nil { file.changed = earlier ?? (instant: .now, time: .now) }
            state.files[path] = file
            return true
        }
    }

    /// Forgets the file at `path`, which no longer exists.
    package func forget(_ path: RelativePath) { state.withLock { $0.files[path] = nil } }

    /// Problems that report, for each file that waits or is being read, that a snapshot made now has an earlier state.
    ///
    /// - Parameter captured: files that the snapshot has as they are.
    /// - Returns: the problems, each with the file's signature; if the snapshot's entry has that signature, the problem
    ///   does not apply.
    package func problems(besides captured: Set<RelativePath>) -> [(problem: Problem, seen: Signature)] {
        state.withLock { state in
            state.files.compactMap { other, file in
                guard file.isUncaptured, !captured.contains(other) else { return nil }
                let state = file.captured.map { "still in its state of \($0.rfc3339)" } ?? "still in an earlier state"
                let detail = "\(state): a large file, captured less often"
                return (Problem(path: other, reason: .postponed, detail: detail), file.seen)
            }
        }
    }

    /// The paths that wait; they must be read even if their times are unchanged.
    package var uncaptured: Set<RelativePath> {
        state.withLock { state in Set(state.files.filter { $0.value.changed != nil || $0.value.left != nil }.keys) }
    }

    /// The paths of uncaptured files whose inode was one of `inodes` when their status was last read.
    ///
    /// The archive has an earlier state of such a path, so its entry cannot show that the file is another name of
    /// these.
    package func paths(of inodes: Set<UInt64>) -> [RelativePath] {
        if inodes.isEmpty { return [] }
        return state.withLock { state in
            state.files.filter { $0.value.isUncaptured && inodes.contains($0.value.seen.inode) }.map(\.key)
        }
    }

    /// Records that waiting files were captured; the caller must hold the root's capture lock.
    package func captured(_ paths: Set<RelativePath>) {
        state.withLock { state in for path in paths { state.files[path]?.changed = nil } }
    }

    /// Records that a capture that began at `start` has scanned `ranges`.
    package func scanned(_ ranges: [PathRange], began start: ContinuousClock.Instant) {
        state.withLock { state in
            for (path, file) in state.files {
                guard let left = file.left, left <= start, ranges.contains(where: { $0.covers(path) }) else { continue }
                state.files[path]?.left = nil
            }
        }
    }

    // MARK: Reading

    /// When the next file is due; nil if none waits.
    package var nextDue: ContinuousClock.Instant? {
        state.withLock { state in state.files.values.compactMap { state.rule.due($0) }.min() }
    }

    /// Begins the reading of the file that has waited longest.
    ///
    /// - Parameters:
    ///   - all: whether to consider all waiting files; otherwise only those that are due.
    ///   - passed: files to skip, as this caller has read them already.
    /// - Returns: the file's path; nil if there is none to read.
    package func begin(all: Bool, passed: Set<RelativePath>, now: ContinuousClock.Instant = .now) -> RelativePath? {
        state.withLock { state in
            let ready = state.files.filter { path, file in
                guard !file.isReading, !passed.contains(path), let due = state.rule.due(file) else { return false }
                return all || due <= now
            }
            let first = ready.min { ($0.value.changed?.instant ?? now) < ($1.value.changed?.instant ?? now) }
            guard let path = first?.key, var file = state.files[path] else { return nil }
            // A change from now on is a new one.
            (file.isReading, file.begun, file.changed) = (true, file.changed, nil)
            state.files[path] = file
            return path
        }
    }

    /// Records the outcome of a reading that began at `start`.
    package func end(
        _ path: RelativePath, _ outcome: Outcome, began start: ContinuousClock.Instant, took: Duration,
        retryAfter pause: Duration
    ) {
        state.withLock { state in
            guard var file = state.files[path] else { return }
            file.isReading = false
            file.retry = nil
            // A failed reading costs time too.
            file.last = (start + took, took)
            switch outcome {
            case .captured: file.captured = .now
            case .superseded: file.left = .now
            case .failed:
                file.changed = file.begun ?? file.changed
                file.retry = .now + max(pause, state.rule.rest(after: took))
            }
            state.files[path] = file
        }
    }

    /// Whether any file is left to the next capture that scans it.
    package var isAnyLeft: Bool { state.withLock { state in state.files.values.contains { $0.left != nil } } }

    /// Returns the files that wait because they were read recently and were not reported yet; marks them as reported.
    package func takeUnreported(now: ContinuousClock.Instant = .now) -> [Waiting] {
        state.withLock { state in
            let unreported = state.files.filter { !$0.value.isReported && (state.rule.due($0.value) ?? now) > now }
            for path in unreported.keys { state.files[path]?.isReported = true }
            return unreported.map { State.waiting($0.key, $0.value, state.rule) }
        }
    }

    /// The files that wait, or are being read, by path.
    package var waiting: [Waiting] {
        state.withLock { state in
            state.files.filter(\.value.isUncaptured).map { State.waiting($0.key, $0.value, state.rule) }
                .sorted { $0.path < $1.path }
        }
    }
}

extension LargeFiles.State {
    /// Forgets files that do not wait if too many are remembered.
    ///
    /// - Returns: whether one more can be remembered.
    fileprivate mutating func makeRoom() -> Bool {
        if files.count >= LargeFiles.limit { files = files.filter(\.value.isUncaptured) }
        return files.count < LargeFiles.limit
    }

    fileprivate static func waiting(
        _ path: RelativePath, _ file: LargeFiles.File, _ rule: LargeFileRule
    ) -> LargeFiles.Waiting {
        LargeFiles.Waiting(
            path: path, bytes: file.bytes, changed: file.changed?.time, captured: file.captured,
            readingTime: file.last?.took, interval: file.last.map { rule.rest(after: $0.took) + $0.took })
    }
}

extension LargeFileRule {
    /// When to read a file; nil if it has not changed.
    fileprivate func due(_ file: LargeFiles.File) -> ContinuousClock.Instant? {
        guard let changed = file.changed else { return nil }
        let due = due(changed: changed.instant, last: file.last)
        return file.retry.map { max($0, due) } ?? due
    }
}
