// Loops over the catalogue: finding and entering chunks.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Glibc
internal import SystemPackage

extension CoreLoop {
    static let catalogueLookup = CoreLoop(
        name: "catalogue-lookup", operation: "a chunk found in a catalogue of 200,000"
    ) {
        let catalogue = try TemporaryCatalogue()
        let known = 200_000
        try catalogue.enter(0..<known)
        return { count in
            for number in 0..<count { try catalogue.find(number * 7_919 % known) }
        }
    }

    static let catalogueInsertion = CoreLoop(
        name: "catalogue-insert", operation: "1,000 chunks entered, one transaction"
    ) {
        let catalogue = try TemporaryCatalogue()
        var next = 0
        return { count in
            for _ in 0..<count {
                try catalogue.enter(next..<(next + 1_000))
                next += 1_000
            }
        }
    }
}

/// A catalogue on disk that is removed when this object is deallocated.
private final class TemporaryCatalogue {
    private let path: FilePath
    private let catalogue: Catalogue
    private let segment: Int64

    init() throws {
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        path = FilePath("\(directory)/archiver-bench-\(getpid()).sqlite")
        catalogue = try Catalogue(at: path)
        segment = try catalogue.enterSegment("one.segment", indexedLength: 0).number
    }

    deinit { Catalogue.delete(at: path) }

    func enter(_ numbers: Range<Int>) throws {
        let chunks = numbers.map {
            (id: TemporaryCatalogue.id($0), location: BlockLocation(segment: segment, offset: $0 * 16))
        }
        try catalogue.enter(segment: segment, length: numbers.upperBound * 16, chunks: chunks)
    }

    func find(_ number: Int) throws {
        guard try catalogue.location(of: TemporaryCatalogue.id(number)) != nil else {
            throw BenchmarkError("the catalogue has lost a chunk")
        }
    }

    private static func id(_ number: Int) -> ChunkID { ChunkID(hashing: Array("chunk \(number)".utf8)) }
}
