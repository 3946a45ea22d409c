// Gives space back beside captures without making them wait.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import Threading

/// How a reclaimer makes way: where others have the archive open, it works in small pieces, and begins none while
/// somebody captures.
///
/// One that has the archive to itself is slowed by nothing.
final class Pacing: Sendable {
    private let store: ArchiveStore
    private let state = Locked(State())

    private struct State {
        var isShared = false
        /// How long that is believed.
        var until = ContinuousClock.now
        /// When others were let go first last.
        var last = ContinuousClock.now
    }

    /// Blocks that are made durable and entered together: who captures waits for the disk and the catalogue, too.
    struct Piece {
        private var bytes = 0
        private var chunks = 0

        mutating func add(_ block: EncodedBlock) {
            bytes += block.byteCount
            chunks += block.header.chunks.count
        }

        var isFull: Bool { bytes >= 512 << 10 || chunks >= Pacing.rows }
    }

    /// Rows of the catalogue that are changed at once beside others.
    static let rows = 16

    /// How long an answer to whether others have the archive open is believed.
    private static let belief: Duration = .milliseconds(250)
    /// A capture is waited for as long as most take, and beyond that no longer than was worked before, as some take minutes
    /// and some follow each other without a pause.
    private static let leastPatience: Duration = .milliseconds(5)
    private static let patience: Duration = .milliseconds(25)
    /// So long is worked without a look at others.
    private static let stretch: Duration = .milliseconds(2)
    /// Microseconds between two looks at whether it has ended.
    private static let napMicroseconds: UInt32 = 500

    init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Whether others have the archive open, in this process or another.
    var isShared: Bool {
        state.withLock { state in
            if state.until <= .now {
                state.isShared = store.openings > 1
                state.until = .now + Pacing.belief
            }
            return state.isShared
        }
    }

    /// Ends a piece of work: lets those go first who capture now.
    func makeWay() throws(StorageError) {
        guard isShared else { return }
        let start = ContinuousClock.now
        let worked = state.withLock { start - $0.last }
        let end = start + min(Pacing.patience, max(Pacing.leastPatience, worked))
        repeat { usleep(Pacing.napMicroseconds) } while try store.isCapturing() && .now < end
        state.withLock { $0.last = .now }
    }

    /// What is to be called often in the midst of a piece that takes long and keeps nothing from others but the processor.
    var pause: @Sendable () -> Void {
        { [self] in
            let isDue = state.withLock { $0.last + Pacing.stretch <= .now }
            // That others cannot be found is told where it matters.
            if isDue { try? makeWay() }
        }
    }
}

extension ArchiveStore {
    /// How many have the archive open, this one among them, as far as the kernel tells.
    fileprivate var openings: Int { KernelLocks.count(of: UseLock.path(in: layout)) }

    /// Whether a commit of others is under way, as far as the kernel tells.
    fileprivate func isCapturing() throws(StorageError) -> Bool {
        let epochs = try epochs()
        return epochs.paths.reduce(0) { $0 + KernelLocks.count(of: $1) } > epochs.ownShares
    }
}
