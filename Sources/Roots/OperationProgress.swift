// Progress counters of an operation, which any thread can read or observe.

internal import FileIO
public import Mementos
internal import Synchronization

/// The counters of a running operation.
///
/// Safe to read from any thread at any time.
public final class OperationProgress: Sendable {
    /// Sends the counters while they change, at most ten times a second, on the operation's own threads.
    ///
    /// An observer that may block, such as a terminal, uses `Subject.events(buffering:)`.
    public let readings = Subject<Reading>()

    /// The counters at one moment.
    public struct Reading: Sendable, Hashable {
        /// Files, directories and other entries that were visited.
        public let entries: UInt64
        /// Bytes of content read or written.
        public let bytes: UInt64
        /// Bytes appended to the archive.
        public let storedBytes: UInt64
        /// The expected number of entries, if known.
        public let expectedEntries: UInt64?
        /// The expected number of bytes, if known.
        public let expectedBytes: UInt64?
    }

    private let entries = Atomic<UInt64>(0)
    private let bytes = Atomic<UInt64>(0)
    private let storedBytes = Atomic<UInt64>(0)
    // The greatest value means "unknown".
    private let expectedEntries = Atomic<UInt64>(.max)
    private let expectedBytes = Atomic<UInt64>(.max)
    /// When to notify observers next, by the monotonic clock.
    private let nextReading = Atomic<UInt64>(0)
    private static let nanosecondsBetweenReadings: UInt64 = 100_000_000

    /// Counters at zero.
    public init() {}

    /// The present counters.
    public var reading: Reading {
        let expectedEntries = expectedEntries.load(ordering: .relaxed)
        let expectedBytes = expectedBytes.load(ordering: .relaxed)
        return Reading(
            entries: entries.load(ordering: .relaxed),
            bytes: bytes.load(ordering: .relaxed),
            storedBytes: storedBytes.load(ordering: .relaxed),
            expectedEntries: expectedEntries == .max ? nil : expectedEntries,
            expectedBytes: expectedBytes == .max ? nil : expectedBytes)
    }

    package func add(entries count: Int = 0, bytes byteCount: UInt64 = 0) {
        if count != 0 { entries.add(UInt64(count), ordering: .relaxed) }
        if byteCount != 0 { bytes.add(byteCount, ordering: .relaxed) }
        reportObservers()
    }

    /// Sends the counters to observers if the next reading is due.
    private func reportObservers() {
        let now = CurrentProcess.monotonicNanoseconds
        let due = nextReading.load(ordering: .relaxed)
        guard now >= due else { return }
        let next = now + OperationProgress.nanosecondsBetweenReadings
        let (isMine, _) = nextReading.compareExchange(expected: due, desired: next, ordering: .relaxed)
        if isMine, readings.isObserved { readings.send(reading) }
    }

    package func set(bytes byteCount: UInt64) {
        bytes.store(byteCount, ordering: .relaxed)
        reportObservers()
    }

    package func set(storedBytes byteCount: UInt64) {
        storedBytes.store(byteCount, ordering: .relaxed)
    }

    package func expect(entries: UInt64?, bytes: UInt64?) {
        expectedEntries.store(entries ?? .max, ordering: .relaxed)
        expectedBytes.store(bytes ?? .max, ordering: .relaxed)
    }

    /// Resets the counters, for an operation that runs several times.
    package func reset() {
        entries.store(0, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        storedBytes.store(0, ordering: .relaxed)
        expect(entries: nil, bytes: nil)
    }
}
