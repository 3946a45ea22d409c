// Tar files of parts of snapshots, produced piece by piece (POSIX.1-2017, pax, "pax Interchange Format").

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Threading

/// The bytes of a tar file, produced on demand.
///
/// Names are relative to the top directory. Hard links become separate files.
final class TarPieces: Sendable {
    private struct State {
        /// The entries still to write, the next one last.
        var waiting: [Entry]
        /// The file being written, and the offset reached.
        var file: (entry: Entry, place: UInt64)?
        var hasEnded = false
    }

    private let archive: Archive
    private let snapshot: ListedSnapshot
    private let top: RelativePath
    private let state: Locked<State>

    private static let pieceBytes: UInt64 = 256 << 10
    private static let blockBytes = 512
    /// The largest size that fits in a plain header.
    private static let plainSize: UInt64 = 0o77777777777

    init(_ archive: Archive, _ snapshot: ListedSnapshot, _ top: Entry) {
        (self.archive, self.snapshot) = (archive, snapshot)
        self.top = top.kind == .directory ? top.path : top.path.parent ?? .root
        state = Locked(State(waiting: [top]))
    }

    /// Returns the next bytes; nil at the end.
    func next() throws -> [UInt8]? {
        try state.withLock { state in
            if let (entry, place) = state.file { return try piece(of: entry, from: place, &state) }
            while let entry = state.waiting.popLast() {
                if entry.kind == .directory {
                    state.waiting += try archive.children(of: entry.path, in: snapshot).reversed()
                    if entry.path == top { continue }
                }
                guard let header = header(of: entry) else { continue }
                if entry.kind == .file, entry.size > 0 { state.file = (entry, 0) }
                return header
            }
            if state.hasEnded { return nil }
            state.hasEnded = true
            return [UInt8](repeating: 0, count: 2 * TarPieces.blockBytes)
        }
    }

    private func piece(of entry: Entry, from place: UInt64, _ state: inout State) throws -> [UInt8] {
        let end = min(place + TarPieces.pieceBytes, entry.size)
        var bytes = try archive.read(entry, range: place..<end)
        guard bytes.count == Int(end - place) else { throw Refusal.notFound("'\(entry.path)' ends early") }
        state.file = end < entry.size ? (entry, end) : nil
        if end == entry.size { TarPieces.pad(&bytes) }
        return bytes
    }

    private static func pad(_ bytes: inout [UInt8]) {
        let rest = bytes.count % blockBytes
        if rest > 0 { bytes += [UInt8](repeating: 0, count: blockBytes - rest) }
    }

    /// Returns the header of an entry; nil for a kind that tar files cannot hold.
    private func header(of entry: Entry) -> [UInt8]? {
        let type: Character
        var target: [UInt8] = []
        switch entry.kind {
        case .file: type = "0"
        case .directory: type = "5"
        case .symbolicLink:
            type = "2"
            if case .linkTarget(let bytes) = entry.content { target = bytes }
        default: return nil
        }
        let name = (top.suffix(of: entry.path) ?? entry.path).bytes + (type == "5" ? [UInt8(ascii: "/")] : [])
        var records: [UInt8] = []
        if name.count > 100 { records += TarPieces.record("path", name) }
        if target.count > 100 { records += TarPieces.record("linkpath", target) }
        if entry.size > TarPieces.plainSize { records += TarPieces.record("size", Array("\(entry.size)".utf8)) }
        var bytes: [UInt8] = []
        if !records.isEmpty {
            bytes += TarPieces.block(
                name: Array("pax".utf8), mode: 0o644, size: UInt64(records.count), time: 0, type: "x", target: [])
            TarPieces.pad(&records)
            bytes += records
        }
        return bytes
            + TarPieces.block(
                name: name, mode: entry.permissions, size: min(entry.size, TarPieces.plainSize),
                time: entry.modified.seconds, type: type, target: target)
    }

    /// Returns a record of a pax header: its length, which includes itself, a blank, name and value.
    private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(key)=".utf8) + value + [UInt8(ascii: "\n")]
        var length = rest.count
        while true {
            let whole = rest.count + "\(length)".utf8.count
            if whole == length { break }
            length = whole
        }
        return Array("\(length)".utf8) + rest
    }

    /// Returns a ustar header.
    private static func block(
        name: [UInt8], mode: UInt16, size: UInt64, time: Int64, type: Character, target: [UInt8]
    ) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockBytes)
        func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
        }
        func octal(_ number: UInt64, _ width: Int) -> [UInt8] {
            let digits = String(number, radix: 8)
            return Array((String(repeating: "0", count: max(0, width - digits.count)) + digits).utf8)
        }
        put(name.prefix(100), at: 0)
        put(octal(UInt64(mode), 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        put(octal(size, 11), at: 124)
        put(octal(UInt64(clamping: max(0, time)) & plainSize, 11), at: 136)
        put([UInt8](repeating: UInt8(ascii: " "), count: 8), at: 148)
        put(String(type).utf8, at: 156)
        put(target.prefix(100), at: 157)
        put("ustar\0".utf8, at: 257)
        put("00".utf8, at: 263)
        let sum = block.reduce(0) { $0 + UInt64($1) }
        put(octal(sum, 6) + [0, UInt8(ascii: " ")], at: 148)
        return block
    }
}
