// What is to be worried about in a watcher's answer.

internal import ArchiveFormat
internal import Roots

/// Reasons why the watching of a root is not well.
enum RootConcerns {
    static func of(_ watcher: WatcherStatus) -> [Concern] {
        var concerns: [Concern] = []
        switch watcher.phase {
        case .waiting: concerns.append(Concern("it does not exist; its appearance is waited for"))
        case .reading: concerns.append(Concern("it is being read for the first time", remedy: "wait"))
        case .unavailable:
            concerns.append(
                Concern("it is gone from its path; its last state is kept", remedy: "bring it back, or mount it"))
        case .watching:
            if !watcher.isCurrent {
                concerns.append(
                    Concern(
                        "the watcher is behind: it has not captured everything that changed",
                        remedy: "wait, and ask again"))
            }
        }
        if let failure = watcher.failure {
            concerns.append(Concern("the last capture failed: \(failure.message)", remedy: failure.remedy))
        }
        // What fanotify took over is watched as well as ever.
        for degradation in watcher.degradations where watcher.directories.polled > 0 {
            concerns.append(Concern(degradation.message, remedy: degradation.remedy))
        }
        if watcher.problemCount > 0 {
            let first = watcher.problems.first.map { ": \($0.path) (\($0.detail))" } ?? ""
            let what =
                watcher.problemCount == 1
                ? "1 path could not be captured as it is"
                : "\(watcher.problemCount) paths could not be captured as they are"
            // What only keeps changing is looked at again by itself.
            let isDenied = watcher.problems.contains { $0.reason != .unstable }
            concerns.append(
                Concern(
                    what + first,
                    remedy: isDenied
                        ? "give the watcher's user access, or leave out with --exclude what nobody needs"
                        : "wait: what keeps changing is captured again and again"))
        }
        if watcher.directories.unreadable > 0 {
            concerns.append(
                Concern(
                    watcher.directories.unreadable == 1
                        ? "1 directory cannot be read" : "\(watcher.directories.unreadable) directories cannot be read",
                    remedy: "give the watcher's user access, or leave out with --exclude what nobody needs"))
        }
        return concerns
    }

    /// The watcher holds its lock but does not answer.
    static func silent(_ failure: ArchiverError?) -> Concern {
        Concern(
            failure?.message ?? "the process that watches it cannot be asked",
            remedy: failure?.remedy ?? "end it and watch again")
    }
}

extension Concern {
    /// That an archive's budget is not kept; nil where it is.
    init?(_ room: ArchiveRoom) {
        guard room.isShort else { return nil }
        func text(_ bytes: UInt64) -> String { "\((bytes + (1 << 20) - 1) >> 20) MiB" }
        if let limit = room.budget.maxSize, room.usedBytes > limit {
            self.init(
                "the archive takes \(text(room.usedBytes)), which is more than the \(text(limit)) that it may",
                remedy: "'archiver prune' forgets old snapshots; 'archiver keep --max-size' gives it more room")
        } else {
            let least = room.budget.minFree(of: room.totalBytes)
            self.init(
                "\(text(room.freeBytes)) are free where the archive is, which is to leave \(text(least))",
                remedy: "free some space, or run 'archiver prune', which forgets old snapshots")
        }
    }
}
