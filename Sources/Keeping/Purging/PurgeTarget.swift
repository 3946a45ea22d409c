// The target of a purge, and how entries are matched with it.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Crypto
internal import Exclusions
public import FileIO
internal import Glibc
public import Roots
internal import SnapshotTree
public import SystemPackage

/// The target of a purge.
public enum PurgeTarget: Sendable, Hashable {
    /// These paths of a root, directories with everything in them; not the root itself.
    case paths([RelativePath], of: ArchivedRoot)
    /// The paths of a root that a gitignore(5) pattern matches, directories with everything in them.
    case pattern([UInt8], of: ArchivedRoot)
    /// All files with exactly the bytes of this one, in all roots and under all names, and such saved states.
    case content(of: FilePath)
    /// Everything that people wrote about snapshots and that contains this text: notes, labels, names of marks and
    /// runs, reasons of pins, in all roots. Files that contain it stay.
    case text([UInt8])

    /// Whether the target is what people wrote, and not files.
    var isText: Bool {
        if case .text = self { return true }
        return false
    }

    /// The root to purge from; nil for all.
    var root: ArchivedRoot? {
        switch self {
        case .paths(_, let root), .pattern(_, let root): root
        case .content, .text: nil
        }
    }

    /// Identifies the target in the mark of an unfinished purge, which must not hold the target itself.
    func id(_ matcher: PurgeMatcher) -> ChunkID {
        let what: [[UInt8]] =
            switch self {
            case .paths(let paths, _): [[0]] + paths.sorted().map(\.bytes)
            case .pattern(let pattern, _): [[1], pattern]
            case .content: [[2], matcher.content?.hash ?? []]
            case .text(let text): [[3], text]
            }
        let place = root.map { [$0.path.bytes, Array($0.machine.hex.utf8)] } ?? []
        return ChunkID(hashing: Array((what + place).joined(separator: [0])))
    }
}

/// Decides whether an entry belongs to the target.
struct PurgeMatcher {
    private enum Rule {
        case paths([RelativePath])
        case pattern(NamePattern)
        case content(ContentDigest)
        case text([UInt8])
    }

    private let store: ArchiveStore
    private let rule: Rule
    /// The results for contents of the right size.
    private var equal: [Content: Bool] = [:]

    /// A matcher for `target`.
    ///
    /// - Throws: `ArchiverError` if the target is invalid or cannot be read.
    init(_ target: PurgeTarget, in store: ArchiveStore) throws {
        self.store = store
        switch target {
        case .paths(let paths, _):
            if paths.contains(where: \.isRoot) {
                throw ArchiverError(
                    .noSuchPath, "the root itself cannot be purged",
                    remedy: Advice.forgetAndPrune.text)
            }
            rule = .paths(paths)
        case .pattern(let bytes, _):
            guard let pattern = NamePattern(bytes) else {
                throw ArchiverError(
                    .unsuitableSettings, "'\(String(decoding: bytes, as: UTF8.self))' is not a pattern for names",
                    remedy: "write it as in a .gitignore file: '*.key', '/docs/*.md', 'cache/'")
            }
            rule = .pattern(pattern)
        case .content(let file):
            rule = .content(try ContentDigest(of: file))
        case .text(let bytes):
            if bytes.isEmpty { throw ArchiverError(.unsuitableSettings, "the text to purge is empty") }
            rule = .text(bytes)
        }
    }

    /// The content to purge; nil if the target is names.
    var content: ContentDigest? {
        if case .content(let digest) = rule { return digest }
        return nil
    }

    /// The text to purge; nil if the target is files.
    var text: [UInt8]? {
        if case .text(let bytes) = rule { return bytes }
        return nil
    }

    /// Whether a text that a person wrote contains the one to purge.
    func isIn(_ written: String?) -> Bool {
        guard let text, let written else { return false }
        return Array(written.utf8).firstRange(of: text) != nil
    }

    mutating func matches(_ entry: Entry) throws -> Bool {
        if entry.path.isRoot { return false }
        switch rule {
        case .paths, .pattern: return names(entry.path, isDirectory: entry.kind == .directory)
        case .content(let digest): return try entry.kind == .file && matches(entry.content, digest)
        case .text: return false
        }
    }

    /// Whether the content is the one to purge; false if the target is names.
    mutating func matches(_ content: Content) throws -> Bool {
        guard case .content(let digest) = rule else { return false }
        return try matches(content, digest)
    }

    private mutating func matches(_ content: Content, _ digest: ContentDigest) throws -> Bool {
        guard content.size == digest.byteCount else { return false }
        if let known = equal[content] { return known }
        let isEqual = try ContentDigest(of: content, in: store) == digest
        equal[content] = isEqual
        return isEqual
    }

    /// Whether the target names `path` or a directory above it.
    func names(_ path: RelativePath, isDirectory: Bool) -> Bool {
        switch rule {
        case .content, .text: return false
        case .paths(let paths): return paths.contains { $0.contains(path) }
        case .pattern(let pattern):
            var (place, isDirectory): (RelativePath?, Bool) = (path, isDirectory)
            while let next = place, !next.isRoot {
                if pattern.matches(next.bytes, isDirectory: isDirectory) { return true }
                (place, isDirectory) = (next.parent, true)
            }
            return false
        }
    }
}

/// The digest of a file's bytes.
struct ContentDigest: Hashable {
    let byteCount: UInt64
    /// SHA-256 (FIPS 180-4).
    let hash: [UInt8]
    /// The first bytes, to find other data that contains them.
    let beginning: [UInt8]

    private static let beginningLimit = 4096
    private static let pieceBytes = 1 << 20

    /// The digest of a file on disk.
    init(of file: FilePath) throws {
        let path = file.absolute
        let descriptor = try Descriptor.openFile(path, O_RDONLY)
        var hash = SHA256()
        var (count, beginning): (UInt64, [UInt8]) = (0, [])
        var buffer = [UInt8](repeating: 0, count: ContentDigest.pieceBytes)
        while true {
            let read = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0, at: count, path: path) }
            if read == 0 { break }
            hash.update(data: buffer[..<read])
            beginning += buffer[..<min(read, ContentDigest.beginningLimit - beginning.count)]
            count += UInt64(read)
        }
        if count == 0 {
            throw ArchiverError(
                .unsuitableSettings, "\(path) is empty: it cannot be found by its content", path: path)
        }
        (self.byteCount, self.hash, self.beginning) = (count, Array(hash.finalize()), beginning)
    }

    /// The digest of a content in the archive.
    init(of content: Content, in store: ArchiveStore) throws {
        var hash = SHA256()
        var (count, beginning): (UInt64, [UInt8]) = (0, [])
        let zeros = [UInt8](repeating: 0, count: ContentDigest.pieceBytes)
        func add(_ bytes: ArraySlice<UInt8>) {
            hash.update(data: bytes)
            beginning += bytes.prefix(ContentDigest.beginningLimit - beginning.count)
            count += UInt64(bytes.count)
        }
        var reader = ContentReader(content, in: store)
        while let piece = try reader.next() {
            switch piece {
            case .data(let bytes): add(bytes)
            case .hole(let length):
                var left = length
                while left > 0 {
                    let part = Int(min(left, UInt64(zeros.count)))
                    add(zeros[..<part])
                    left -= UInt64(part)
                }
            }
        }
        (self.byteCount, self.hash, self.beginning) = (count, Array(hash.finalize()), beginning)
    }
}
