// Counters of an open archive's reads and writes: costs that grow with the archive show here before they show in time.

internal import ArchiveFormat
internal import Synchronization

/// Counts the work of one archive object; can be used from any thread.
package final class StorageCounters: Sendable {
    /// The work up to a moment.
    package struct Counts: Sendable, Hashable {
        /// Segments whose block headers were scanned.
        package var segmentsScanned = 0
        /// Blocks read and unpacked, without those found in the cache.
        package var blocksRead = 0
        /// Raw bytes of these blocks.
        package var bytesUnpacked = 0
        package var blocksWritten = 0
        /// Tree nodes in the blocks written.
        package var nodesWritten = 0
        /// fdatasync(2) of segments.
        package var synchronizations = 0
        /// Lookups of chunks in the catalogue.
        package var lookups = 0
        /// Queries to the catalogue.
        package var questions = 0
        /// Rows read from the index of paths.
        package var changesRead = 0
        /// Names read from the index of paths.
        package var namesRead = 0
        /// Snapshot rows read.
        package var snapshotsRead = 0
        /// Write transactions of the catalogue.
        package var transactions = 0

        /// The work between `earlier` and now.
        package static func - (now: Counts, earlier: Counts) -> Counts {
            Counts(
                segmentsScanned: now.segmentsScanned - earlier.segmentsScanned,
                blocksRead: now.blocksRead - earlier.blocksRead,
                bytesUnpacked: now.bytesUnpacked - earlier.bytesUnpacked,
                blocksWritten: now.blocksWritten - earlier.blocksWritten,
                nodesWritten: now.nodesWritten - earlier.nodesWritten,
                synchronizations: now.synchronizations - earlier.synchronizations,
                lookups: now.lookups - earlier.lookups, questions: now.questions - earlier.questions,
                changesRead: now.changesRead - earlier.changesRead,
                namesRead: now.namesRead - earlier.namesRead,
                snapshotsRead: now.snapshotsRead - earlier.snapshotsRead,
                transactions: now.transactions - earlier.transactions)
        }
    }

    let segmentsScanned = Counter()
    let blocksRead = Counter()
    let bytesUnpacked = Counter()
    let blocksWritten = Counter()
    let nodesWritten = Counter()
    let synchronizations = Counter()
    let lookups = Counter()
    let questions = Counter()
    let changesRead = Counter()
    let namesRead = Counter()
    let snapshotsRead = Counter()
    let transactions = Counter()

    package var counts: Counts {
        Counts(
            segmentsScanned: segmentsScanned.value, blocksRead: blocksRead.value, bytesUnpacked: bytesUnpacked.value,
            blocksWritten: blocksWritten.value, nodesWritten: nodesWritten.value,
            synchronizations: synchronizations.value, lookups: lookups.value,
            questions: questions.value, changesRead: changesRead.value,
            namesRead: namesRead.value, snapshotsRead: snapshotsRead.value, transactions: transactions.value)
    }

    /// Counts a block that was appended to a segment.
    func countWritten(_ header: BlockHeader) {
        blocksWritten.add()
        nodesWritten.add(header.chunks.count { $0.kind == .node })
    }
}

/// A counter that only grows.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ more: Int = 1) { count.add(more, ordering: .relaxed) }
}
