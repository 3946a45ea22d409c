// How far an operation is: counters that it moves forward and anyone may read or observe.

internal import FileIO
public import Mementos
internal import Synchronization

/// Counters of an operation under way.
///
/// Safe to read from any thread at any time.
public final class OperationProgress: Sendable {
    /// Tells of the counters while they move, at most ten times a second, on the operation's own threads.
    ///
    /// Whoever may block, as a terminal does, observes through ``Mementos/Subject/events(buffering:)``.
    public let readings = Subject<Reading>()

    /// The counters at one moment.
    public struct Reading: Sendable, Hashable {
        /// Files, directories and so on that were looked at.
        public let entries: UInt64
        /// Bytes of content that were read or written.
        public let bytes: UInt64
        /// Bytes appended to the archive.
        public let storedBytes: UInt64
        /// How many entries there will be, where that is known.
        public let expectedEntries: UInt64?
        /// How many bytes there will be, where that is known.
        public let expectedBytes: UInt64?
    }

    private let entries = Atomic<UInt64>(0)
    private let bytes = Atomic<UInt64>(0)
    private let storedBytes = Atomic<UInt64>(0)
    // The greatest value stands for "unknown".
    private let expectedEntries = Atomic<UInt64>(.max)
    private let expectedBytes = Atomic<UInt64>(.max)
    /// When observers are told next, by the monotonic clock.
    private let nextReading = Atomic<UInt64>(0)
    private static let nanosecondsBetweenReadings: UInt64 = 100_000_000

    public init() {}

    /// The counters as they are now.
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

    /// Tells of the counters, unless that was done just before.
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

    /// Begins anew, for an operation that has several runs.
    package func reset() {
        entries.store(0, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        storedBytes.store(0, ordering: .relaxed)
        expect(entries: nil, bytes: nil)
    }
}
