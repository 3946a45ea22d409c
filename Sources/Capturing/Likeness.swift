// How much of two files' contents is the same.

internal import ArchiveFormat
internal import ArchiveStorage
internal import SnapshotTree

/// A file's content as a multiset of parts, each known by a hash.
struct Fingerprint {
    private struct Part {
        let hash: UInt64
        var bytes: UInt64
    }

    /// In ascending order of the hashes, which differ.
    private let parts: [Part]
    private let size: UInt64

    private init(_ all: [Part]) {
        size = all.reduce(0) { FormatLimits.sum($0, $1.bytes, FormatLimits.bytes) }
        var merged: [Part] = []
        for part in all.sorted(by: { $0.hash < $1.hash }) {
            if let last = merged.indices.last, merged[last].hash == part.hash {
                merged[last].bytes = FormatLimits.sum(merged[last].bytes, part.bytes, FormatLimits.bytes)
            } else {
                merged.append(part)
            }
        }
        parts = merged
    }

    /// The share of the larger content that the smaller one has too, from 0 to 1.
    func likeness(to other: Fingerprint) -> Double {
        var (left, right) = (0, 0)
        var common: UInt64 = 0
        while left < parts.count, right < other.parts.count {
            let (one, two) = (parts[left], other.parts[right])
            if one.hash == two.hash { common = FormatLimits.sum(common, min(one.bytes, two.bytes), FormatLimits.bytes) }
            if one.hash <= two.hash { left += 1 }
            if two.hash <= one.hash { right += 1 }
        }
        let larger = max(size, other.size)
        return larger == 0 ? 0 : Double(common) / Double(larger)
    }
}

extension Fingerprint {
    /// The longest part of a text, in bytes; a line is a part, and a longer line is several.
    private static let longestPart = 64
    /// The most lists of slices that are read.
    private static let listsLimit = 64

    /// The fingerprint of the lines in `content`, which is read.
    init(linesOf content: Content, in store: ArchiveStore) throws {
        var parts: [Part] = []
        var reader = ContentReader(content, in: store)
        var part = Hasher64()
        while let piece = try reader.next() {
            switch piece {
            case .hole(let length): parts.append(Part(hash: 0, bytes: length))
            case .data(let bytes):
                for byte in bytes {
                    part.add(byte)
                    guard byte == UInt8(ascii: "\n") || part.count == Fingerprint.longestPart else { continue }
                    parts.append(Part(hash: part.value, bytes: UInt64(part.count)))
                    part = Hasher64()
                }
            }
        }
        if part.count > 0 { parts.append(Part(hash: part.value, bytes: UInt64(part.count))) }
        self.init(parts)
    }

    /// The fingerprint of the chunks in `content`, of which only lists of slices are read; nil if it has too many.
    init?(chunksOf content: Content, in store: ArchiveStore) throws {
        var slices: [Slice] = []
        switch content {
        case .slices(let own): slices = own
        case .sliceLists(let lists):
            if lists.count > Fingerprint.listsLimit { return nil }
            for list in lists { slices += try ContentReader.slices(in: list, of: store) }
        case .none, .inline, .linkTarget: return nil
        }
        self.init(slices.map { Part(hash: $0.chunk?.prefix ?? 0, bytes: $0.length) })
    }
}

/// A quick hash of a few bytes (FNV-1a), the same in every process.
private struct Hasher64 {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var count = 0

    mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        count += 1
    }
}

/// Compares the contents of removed files with those of added ones, within a limit of bytes read.
struct LikenessSearch {
    private let store: ArchiveStore
    /// How many bytes may still be read.
    private var budget: UInt64 = 32 << 20
    private var known: [Key: Fingerprint?] = [:]

    private struct Key: Hashable {
        let content: Content
        let byChunks: Bool
    }

    /// The largest file whose lines are compared; larger ones are compared chunk by chunk.
    static let linesLimit: UInt64 = 1 << 20

    init(_ store: ArchiveStore) { self.store = store }

    /// Returns how alike two contents are, from 0 to 1; 0 if one of them cannot be read.
    mutating func likeness(_ old: Content, _ new: Content) throws -> Double {
        let byChunks = max(old.size, new.size) > LikenessSearch.linesLimit
        guard let left = try fingerprint(old, byChunks), let right = try fingerprint(new, byChunks) else { return 0 }
        return left.likeness(to: right)
    }

    private mutating func fingerprint(_ content: Content, _ byChunks: Bool) throws -> Fingerprint? {
        let key = Key(content: content, byChunks: byChunks)
        if let known = known[key] { return known }
        var found: Fingerprint?
        do {
            // A capture never waits for a replica.
            if try content.chunksToRead(byChunks).contains(where: { try store.catalogue.isAway($0) }) {
                found = nil
            } else if byChunks {
                found = try Fingerprint(chunksOf: content, in: store)
            } else if content.size <= budget {
                budget -= content.size
                found = try Fingerprint(linesOf: content, in: store)
            }
        } catch let error as StorageError {
            guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
        }
        known[key] = .some(found)
        return found
    }
}

extension Content {
    /// The chunks that a fingerprint reads first.
    fileprivate func chunksToRead(_ byChunks: Bool) -> [ChunkID] {
        switch self {
        case .slices(let slices): byChunks ? [] : slices.compactMap(\.chunk)
        case .sliceLists(let lists): lists.map(\.list)
        case .none, .inline, .linkTarget: []
        }
    }
}
