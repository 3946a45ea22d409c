// An archive with many small records, for rebuilding a lost catalogue.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import SystemPackage
internal import TestSupport

/// An archive of labels or gaps, each in a block of its own, as they come from day to day.
enum ManyRecordsArchive {
    private static let start: Int64 = 1_700_000_000

    /// Creates an archive in `directory`, with `count` labels of as many snapshots, which it need not have.
    static func makeLabels(in directory: FilePath, _ count: Int) throws {
        let store = try ArchiveStore.open(directory, creating: true)
        var random = SeededGenerator(seed: 1)
        for number in 0..<count {
            try Interruption.check()
            let target = ChunkID(hashing: random.noise(ChunkID.byteCount))
            try store.enter(LabelRecord(target: target, time: time(number), label: "label \(number)"))
        }
    }

    /// Creates an archive in `directory`, with `count` gaps of one root.
    static func makeGaps(in directory: FilePath, _ count: Int) throws {
        let store = try ArchiveStore.open(directory, creating: true)
        for number in 0..<count {
            try Interruption.check()
            let gap = GapRecord(
                rootPath: Array("/nowhere".utf8), host: "host", cause: .overflow, start: time(number),
                end: time(number + 1))
            try store.enter([gap])
        }
    }

    private static func time(_ number: Int) -> Timestamp { Timestamp(seconds: start + Int64(number)) }
}
