// The gaps of a watched root, on their way into the archive.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import FileWatching
internal import Roots
internal import SystemPackage
internal import Threading

/// The gaps of one watched root: reported immediately, and entered into the archive then or with a later capture.
final class RootGaps: Sendable {
    private let path: FilePath
    private let service: WatchService
    /// Gaps that are not in the archive yet.
    private let unrecorded = Locked<[GapRecord]>([])

    init(of path: FilePath, _ service: WatchService) {
        self.path = path
        self.service = service
    }

    /// Records a gap that ends now.
    func record(_ cause: GapCause, from start: Timestamp) async {
        await record([gap(cause, from: start, to: .now)])
    }

    /// Records gaps that the tree's watch has found.
    func record(_ gaps: [Gap]) async {
        if gaps.isEmpty { return }
        await record(gaps.map { gap($0.cause.recorded, from: $0.start, to: $0.end) })
    }

    /// Records the gaps that are still open when watching ends.
    func record(open gaps: [Gap.Cause: Timestamp]) async {
        await record(gaps.map { gap($0.recorded, from: $1, to: .now) })
    }

    private func gap(_ cause: GapCause, from start: Timestamp, to end: Timestamp) -> GapRecord {
        GapRecord(
            rootPath: path.bytes, host: CurrentProcess.hostName, cause: cause, start: start, end: end,
            machine: Machine.id)
    }

    private func record(_ gaps: [GapRecord]) async {
        for gap in gaps { service.report(.gap(gap)) }
        unrecorded.withLock { $0 += gaps }
        await enter()
    }

    /// Enters the gaps that are not in the archive yet; if that fails, they wait for the next attempt.
    func enter() async {
        let gaps = unrecorded.withLock { unrecorded in
            defer { unrecorded = [] }
            return unrecorded
        }
        if gaps.isEmpty { return }
        let (archive, hooks) = (service.archive, service.options.hooks)
        do {
            try await Blocking.run { () throws(ArchiverError) in
                try facing {
                    try hooks.beforeEnteringGaps()
                    try archive.current().archive.store.enter(gaps)
                }
            }
        } catch {
            unrecorded.withLock { $0 += gaps }
            service.report(.error(root: path, error))
        }
    }
}

extension Gap.Cause {
    /// The cause as the archive records it.
    var recorded: GapCause {
        switch self {
        case .overflow: .overflow
        case .rootUnavailable: .unavailable
        case .polling: .polling
        case .suspend: .suspend
        }
    }
}
