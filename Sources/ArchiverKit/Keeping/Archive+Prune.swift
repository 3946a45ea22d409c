// Giving space back: what nothing needs any more goes.

internal import ArchiveStorage
internal import FileIO
public import Roots

/// What giving space back did, or would do.
public struct PruneResult: Sendable, Hashable {
    /// Whether nothing was changed.
    public let isDryRun: Bool
    /// Bytes of all segments before.
    public let bytesBefore: UInt64
    /// Bytes of all segments afterwards; of a dry run, about.
    public let bytesAfter: UInt64
    /// Bytes that the file system has back; of a dry run, about.
    ///
    /// Others may have written more meanwhile.
    public let freedBytes: UInt64
    /// How many segments there were.
    public let segments: Int
    /// How many of them were dropped.
    public let dropped: Int
    /// Bytes that were copied out of those, as they are needed.
    public let movedBytes: UInt64
    /// Segments that stay because somebody writes to them.
    public let inUse: Int
    /// Segments that stay because they are damaged, each as a sentence.
    public let damaged: [String]
}

extension Archive {
    /// A week.
    public static var defaultGrace: Duration { .seconds(7 * 86_400) }

    /// Gives the space of what is forgotten back to the file system.
    ///
    /// Captures and restores go on meanwhile. It can be ended at any moment, by killing the process, too: then the next
    /// run does the rest.
    ///
    /// - Parameters:
    ///   - grace: for so long what was forgotten can be brought back, and stays; `defaultGrace` unless told otherwise.
    ///   - isDryRun: whether only to tell what would go.
    ///   - isCancelled: asked now and then whether to end early.
    ///   - progress: counters that are moved forward meanwhile: entries that were looked at, then bytes of segments.
    /// - Throws: `ArchiverError` of the codes `inUse` where another process does the same, `damaged` where it cannot be told
    ///   what is needed, `cancelled` after an early end.
    public func prune(
        grace: Duration = defaultGrace, isDryRun: Bool = false,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> PruneResult {
        try facing {
            var options = Reclaimer.Options()
            options.isDryRun = isDryRun
            options.isCancelled = isCancelled
            options.onProgress = { done, all in
                progress?.expect(entries: nil, bytes: UInt64(all))
                progress?.set(bytes: UInt64(done))
            }
            let reclaimer = try Reclaimer(store, options)
            var mark = LiveMark(store, progress, isCancelled: isCancelled, pause: reclaimer.pause)
            let since =
                grace > .zero
                ? Timestamp(seconds: Timestamp.now.seconds - grace.components.seconds) : Timestamp(seconds: .max)
            let result = try reclaimer.run { live in
                try mark.run(forgottenSince: since) { live.insert($0) }
            }
            return PruneResult(
                isDryRun: isDryRun, bytesBefore: UInt64(result.bytesBefore), bytesAfter: UInt64(result.bytesAfter),
                freedBytes: UInt64(result.freedBytes), segments: result.segments, dropped: result.dropped,
                movedBytes: UInt64(result.movedBytes), inUse: result.inUse, damaged: result.damaged)
        }
    }
}
