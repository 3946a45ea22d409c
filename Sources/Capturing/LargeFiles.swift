// Large files of a watched root: each is read on its own, and the less often the longer that takes.

package import ArchiveFormat
package import FileIO
package import FileWatching
internal import Threading

/// When a large file is read.
package struct LargeFileRule: Sendable, Hashable {
    /// Files of this many bytes and more are large; nil where none is.
    var smallest: UInt64?
    /// How long after a change a large file is captured at the latest.
    var longestDelay: Duration

    /// Reading one takes at most one part in so many of the time.
    package static let share = 10

    package init(smallest: UInt64?, longestDelay: Duration) {
        self.smallest = smallest
        self.longestDelay = longestDelay
    }

    /// Whether `status` is of a file whose reading may wait.
    ///
    /// Holes cost nothing. A file with several names is captured with all of them at a time.
    func isLarge(_ status: FileStatus) -> Bool {
        guard let smallest, status.kind == .file, status.links == 1 else { return false }
        return min(status.size, status.allocatedBytes) >= smallest
    }

    /// How long after the end of a reading that took `took` the next one begins at the earliest.
    package func rest(after took: Duration) -> Duration { min(took * (LargeFileRule.share - 1), longestDelay) }

    /// When a file that changed is to be read.
    ///
    /// - Parameter last: when its last reading ended, and how long that took; nil where it was not read yet.
    package func due(
        changed: ContinuousClock.Instant, last: (end: ContinuousClock.Instant, took: Duration)?
    ) -> ContinuousClock.Instant {
        guard let last else { return changed }
        return min(max(changed, last.end + rest(after: last.took)), changed + longestDelay)
    }
}

/// The large files of one root that have changed and are not captured yet, and how long reading each took last.
///
/// Any thread may use it.
package final class LargeFiles: Sendable {
    /// A file that has changed and is not captured yet.
    package struct Waiting {
        package let path: RelativePath
        package let bytes: UInt64
        /// When it changed first since it was captured; nil while it is being read.
        package let changed: Timestamp?
        /// When it was last captured; nil where it was not yet.
        package let captured: Timestamp?
        /// How long reading it took then.
        package let readingTime: Duration?
        /// How often it is captured while it changes all the time.
        package let interval: Duration?
    }

    /// How a reading ended.
    package enum Outcome {
        /// What was read is in the archive, or nothing had changed.
        case captured
        /// Something else has to be captured first: the file is looked at with the next batch, and waits until then.
        case superseded
        case failed
    }

    fileprivate struct File {
        var bytes: UInt64
        /// What it was when it was looked at last.
        var seen: Signature
        /// When it changed first since it was captured; nil where it is captured as it is.
        var changed: (instant: ContinuousClock.Instant, time: Timestamp)?
        /// When what the last reading was begun for changed first.
        var begun: (instant: ContinuousClock.Instant, time: Timestamp)?
        /// When it was left to the next capture that looks at it; nil where that is done.
        var left: ContinuousClock.Instant?
        var last: (end: ContinuousClock.Instant, took: Duration)?
        /// When it was captured on its own last.
        var captured: Timestamp?
        /// When a reading that failed is tried again.
        var retry: ContinuousClock.Instant?
        /// Whether somebody was told that it is captured less often.
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

    /// Files that are remembered; those beyond are read with everything else.
    fileprivate static let limit = 4096

    package init(_ rule: LargeFileRule) { state = Locked(State(rule: rule)) }

    package var rule: LargeFileRule {
        get { state.withLock { $0.rule } }
        set { state.withLock { $0.rule = newValue } }
    }

    // MARK: What a capture comes upon

    /// Whether the reading of a file that may have changed is put off: it waits from now on.
    ///
    /// A file that the archive has nothing of at this path is not: until it is read, nothing of it would be anywhere.
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
            // What was left is no later change.
            let earlier = file.left == nil ? nil : file.begun
            if file.changed == nil { file.changed = earlier ?? (instant: .now, time: .now) }
            state.files[path] = file
            return true
        }
    }

    /// Records that nothing is at `path` any more.
    package func forget(_ path: RelativePath) { state.withLock { $0.files[path] = nil } }

    /// Says of the files that wait, or are being read, that a snapshot made now has an earlier state of them.
    ///
    /// - Parameter captured: those that it has as they are.
    /// - Returns: what to say, and of what state of the file it is not true.
    package func problems(besides captured: Set<RelativePath>) -> [(problem: Problem, seen: Signature)] {
        state.withLock { state in
            state.files.compactMap { other, file in
                guard file.isUncaptured, !captured.contains(other) else { return nil }
                let state = file.captured.map { "as it was at \($0.rfc3339)" } ?? "as it was before"
                let detail = "\(state): a large file, captured less often"
                return (Problem(path: other, reason: .postponed, detail: detail), file.seen)
            }
        }
    }

    /// The paths that wait: whatever the times there say, they are to be read.
    package var uncaptured: Set<RelativePath> {
        state.withLock { state in Set(state.files.filter { $0.value.changed != nil || $0.value.left != nil }.keys) }
    }

    /// The paths of files that the archive does not have as they are, and that were one of `inodes` when they were last
    /// looked at: a further name of such a file is not told by what the archive has at the path.
    package func paths(of inodes: Set<UInt64>) -> [RelativePath] {
        if inodes.isEmpty { return [] }
        return state.withLock { state in
            state.files.filter { $0.value.isUncaptured && inodes.contains($0.value.seen.inode) }.map(\.key)
        }
    }

    /// Records that files were captured that waited: to be called while nobody else captures the root.
    package func captured(_ paths: Set<RelativePath>) {
        state.withLock { state in for path in paths { state.files[path]?.changed = nil } }
    }

    /// Records that a capture that began at `start` has looked at `ranges`.
    package func looked(at ranges: [PathRange], began start: ContinuousClock.Instant) {
        state.withLock { state in
            for (path, file) in state.files {
                guard let left = file.left, left <= start, ranges.contains(where: { $0.covers(path) }) else { continue }
                state.files[path]?.left = nil
            }
        }
    }

    // MARK: Reading

    /// When the next file is to be read; nil where none waits.
    package var nextDue: ContinuousClock.Instant? {
        state.withLock { state in state.files.values.compactMap { state.rule.due($0) }.min() }
    }

    /// Begins the reading of a file that waits: of those that are due, or of all, that which has waited longest.
    ///
    /// - Parameters:
    ///   - passed: files that are not to be read again by this caller.
    /// - Returns: nil where there is none.
    package func begin(all: Bool, passed: Set<RelativePath>, now: ContinuousClock.Instant = .now) -> RelativePath? {
        state.withLock { state in
            let ready = state.files.filter { path, file in
                guard !file.isReading, !passed.contains(path), let due = state.rule.due(file) else { return false }
                return all || due <= now
            }
            let first = ready.min { ($0.value.changed?.instant ?? now) < ($1.value.changed?.instant ?? now) }
            guard let path = first?.key, var file = state.files[path] else { return nil }
            // What changes from now on is another change.
            (file.isReading, file.begun, file.changed) = (true, file.changed, nil)
            state.files[path] = file
            return path
        }
    }

    /// Records how the reading of a file went that began at `start`.
    package func end(
        _ path: RelativePath, _ outcome: Outcome, began start: ContinuousClock.Instant, took: Duration,
        retryAfter pause: Duration
    ) {
        state.withLock { state in
            guard var file = state.files[path] else { return }
            file.isReading = false
            file.retry = nil
            // However it ended, it cost that much.
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

    /// Whether some file is left to the next capture that looks at it.
    package var isAnyLeft: Bool { state.withLock { state in state.files.values.contains { $0.left != nil } } }

    /// Files that wait because they were read not long ago, and that nobody was told of; from now on somebody is.
    package func takeUnreported(now: ContinuousClock.Instant = .now) -> [Waiting] {
        state.withLock { state in
            let untold = state.files.filter { !$0.value.isReported && (state.rule.due($0.value) ?? now) > now }
            for path in untold.keys { state.files[path]?.isReported = true }
            return untold.map { State.waiting($0.key, $0.value, state.rule) }
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
    /// Forgets files that do not wait where too many are remembered.
    ///
    /// - Returns: whether one more can be.
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
    /// When a file is to be read; nil where it need not be.
    fileprivate func due(_ file: LargeFiles.File) -> ContinuousClock.Instant? {
        guard let changed = file.changed else { return nil }
        let due = due(changed: changed.instant, last: file.last)
        return file.retry.map { max($0, due) } ?? due
    }
}
