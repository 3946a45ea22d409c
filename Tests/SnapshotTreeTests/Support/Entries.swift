// Entries and paths for tests: simple ones and difficult ones.

import ArchiveFormat
import FileIO
import TestSupport

extension Entry {
    /// A file at `path` whose state depends on `version`.
    static func file(_ path: RelativePath, version: Int = 0) -> Entry {
        Entry(
            path: path, kind: .file, permissions: 0o644, modified: Timestamp(seconds: Int64(version)),
            content: .slices([Slice(length: UInt64(version) + 1, chunk: nil)]))
    }
}

extension RelativePath {
    /// A path from text that must be valid.
    static func valid(_ text: String) -> RelativePath { RelativePath(unchecked: Array(text.utf8)) }
}

extension SeededGenerator {
    /// A path of 1 to 12 components from a small alphabet, so that paths are prefixes and neighbours of each other.
    mutating func path() -> RelativePath {
        // 0x2E sorts below `/` as a byte and above it in walk order.
        let alphabet: [UInt8] = [0x01, 0x2E, 0x30, 0x61, 0x62, 0xFF]
        let depth = oneIn(10) ? 12 : 1 + below(3)
        while true {
            let components = (0..<depth).map { _ in (0...below(3)).map { _ in alphabet[below(alphabet.count)] } }
            if let path = RelativePath(Array(components.joined(separator: [UInt8(ascii: "/")]))) { return path }
        }
    }

    /// Entries at different paths, in walk order.
    mutating func entries(_ count: Int) -> [Entry] {
        var paths: Set<RelativePath> = []
        while paths.count < count { paths.insert(path()) }
        return paths.sorted().map { Entry.file($0, version: below(1000)) }
    }
}

/// Entries like those of a source tree, in walk order.
func realisticEntries(_ count: Int) -> [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(count)
    for number in 0..<count {
        let (directory, file) = number.quotientAndRemainder(dividingBy: 40)
        let padded = "\(10_000_000 + directory)"
        entries.append(.file(.valid("src/\(padded.dropLast(3))/module-\(padded)/file\(100 + file).swift"), version: 1))
    }
    return entries
}
