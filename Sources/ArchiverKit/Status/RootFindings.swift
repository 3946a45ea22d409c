// The findings in a watcher's answer.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
package import Roots

/// The findings about a root's watching.
package enum RootFindings {
    /// What is said of a root that no watcher has.
    package static let unwatched = Finding("it is not being watched", remedy: Advice.watchRoot.text)

    static func of(_ watcher: WatcherStatus) -> [Finding] {
        var findings: [Finding] = []
        switch watcher.phase {
        case .waiting: findings.append(Finding("it does not exist; the watcher waits for it"))
        case .reading: findings.append(Finding("it is being read for the first time", remedy: "wait"))
        case .unavailable:
            findings.append(
                Finding("it is missing from its path; its snapshots are safe", remedy: "move it back, or mount it"))
        case .watching:
            if !watcher.isCurrent {
                findings.append(
                    Finding(
                        "the watcher is behind: it has not captured all changes yet",
                        remedy: Advice.askAgain.text))
            }
        }
        if let failure = watcher.failure {
            findings.append(Finding("the last capture failed: \(failure.message)", remedy: failure.remedy))
        }
        // Directories that fanotify watches instead are no problem.
        for fallback in watcher.fallbacks where watcher.directories.polled > 0 {
            findings.append(Finding(fallback.message, remedy: fallback.remedy))
        }
        if watcher.problemCount > 0 {
            let first = watcher.problems.first.map { ": \($0.path) (\($0.detail))" } ?? ""
            let what =
                watcher.problemCount == 1
                ? "1 path could not be captured as it is"
                : "\(watcher.problemCount) paths could not be captured as they are"
            // Unstable files are retried automatically.
            let isDenied = watcher.problems.contains { $0.reason != .unstable }
            findings.append(
                Finding(
                    what + first,
                    remedy: isDenied
                        ? Advice.giveAccess.text
                        : "wait: files that keep changing are retried"))
        }
        if watcher.directories.unreadable > 0 {
            findings.append(
                Finding(
                    watcher.directories.unreadable == 1
                        ? "1 directory cannot be read" : "\(watcher.directories.unreadable) directories cannot be read",
                    remedy: Advice.giveAccess.text))
        }
        return findings
    }

    /// Returns the finding that the latest snapshot of a root is dated in the future.
    static var future: Finding {
        Finding("its latest snapshot is dated in the future", remedy: "check the clock of this machine")
    }

    /// Returns the finding that a watcher holds its lock but does not answer.
    static func silent(_ failure: ArchiverError?) -> Finding {
        Finding(
            failure?.message ?? "the process that watches it does not answer",
            remedy: failure?.remedy ?? "end it and watch again")
    }
}

extension Finding {
    /// Creates the finding that an archive exceeds its budget, or soon will for the first time; nil if neither is so.
    ///
    /// - Parameters:
    ///   - notice: what the last maintenance found.
    ///   - isFirst: whether nothing was forgotten for lack of room so far.
    init?(_ room: ArchiveRoom, _ notice: RoomNotice?, isFirst: Bool) {
        let limit = room.budget.maxSize
        let least = room.budget.minFree(of: room.totalBytes)
        let isAboutSize = limit.map { room.usedBytes > $0 - $0 / 10 } ?? false
        let space =
            isAboutSize
            ? "the archive takes \(ByteCount.text(room.usedBytes)) of its limit of \(ByteCount.text(limit ?? 0))"
            : "only \(ByteCount.text(room.freeBytes)) are free on the archive's file system, of \(ByteCount.text(least)) to be left free"
        guard room.isShort else {
            guard room.isAlmostShort, isFirst else { return nil }
            self.init(
                "\(space): soon old snapshots will be forgotten to make room",
                remedy: isAboutSize
                    ? Advice.raiseLimitOrPin.text
                    : "free some space, or pin what must stay")
            return
        }
        if let notice, !notice.isReachable {
            let causes = notice.causes.map(\.message).joined(separator: "; ")
            self.init(
                "\(space), and forgetting old snapshots cannot change that" + (causes.isEmpty ? "" : ": \(causes)"),
                remedy: isAboutSize
                    ? Advice.raiseLimitOrPurge.text
                    : "free some space on that file system")
            return
        }
        // What was forgotten is freed when its grace has passed.
        if let notice, notice.waitingBytes >= room.lackingBytes { return nil }
        let others = isFirst ? ": old snapshots will be forgotten to make room" : ""
        if let limit, room.usedBytes > limit {
            self.init(
                "the archive takes \(ByteCount.text(room.usedBytes)), more than its limit of \(ByteCount.text(limit))\(others)",
                remedy: Advice.raiseLimitOrSee.text)
        } else {
            self.init(
                "only \(ByteCount.text(room.freeBytes)) are free on the archive's file system, less than \(ByteCount.text(least))\(others)",
                remedy: Advice.freeSpaceOrPrune.text)
        }
    }
}
