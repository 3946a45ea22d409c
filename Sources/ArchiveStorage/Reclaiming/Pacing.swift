// Lets a reclaimer work next to captures without making them wait.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import Threading

/// Paces a reclaimer: if others have the archive open, it works in small pieces and begins none during a capture.
///
/// A reclaimer that is alone works at full speed.
final class Pacing: Sendable {
    private let store: ArchiveStore
    private let state = Locked(State())

    private struct State {
        var isShared = false
        /// When `isShared` has to be determined again.
        var until = ContinuousClock.now
        /// When the reclaimer last gave way to captures.
        var last = ContinuousClock.now
    }

    /// Blocks that are made durable and indexed together; small, as a capture waits for the disk and the catalogue,
    /// too.
    struct Piece {
        private var bytes = 0
        private var chunks = 0

        mutating func add(_ block: EncodedBlock) {
            bytes += block.byteCount
            chunks += block.header.chunks.count
        }

        var isFull: Bool { bytes >= 512 << 10 || chunks >= Pacing.rows }
    }

    /// Rows of the catalogue that are changed in one transaction while others use the archive.
    static let rows = 16

    /// How long `isShared` is cached.
    private static let belief: Duration = .milliseconds(250)
    /// The shortest and the longest limit of the wait for a capture.
    ///
    /// Most captures end within the shortest. Otherwise the wait is as long as the work before it: some captures take
    /// minutes, and some follow each other without a pause.
    private static let leastPatience: Duration = .milliseconds(5)
    private static let patience: Duration = .milliseconds(25)
    /// The longest work without giving way.
    private static let stretch: Duration = .milliseconds(2)
    /// Microseconds between two checks whether the capture has ended.
    private static let napMicroseconds: UInt32 = 500

    init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Whether others have the archive open, in this process or another.
    var isShared: Bool {
        state.withLock { state in
            if state.until <= .now {
                state.isShared = store.isOpenElsewhere
                state.until = .now + Pacing.belief
            }
            return state.isShared
        }
    }

    /// Ends a piece of work: waits for running captures.
    func makeWay() throws(StorageError) {
        guard isShared else { return }
        let start = ContinuousClock.now
        let worked = state.withLock { start - $0.last }
        let end = start + min(Pacing.patience, max(Pacing.leastPatience, worked))
        repeat { usleep(Pacing.napMicroseconds) } while try store.epochs().isHeldElsewhere && .now < end
        state.withLock { $0.last = .now }
    }

    /// Call it often in a long piece of work that blocks nothing except the processor.
    var pause: @Sendable () -> Void {
        { [self] in
            let isDue = state.withLock { $0.last + Pacing.stretch <= .now }
            // Errors are ignored here; the next operation that matters reports them.
            if isDue { try? makeWay() }
        }
    }
}
