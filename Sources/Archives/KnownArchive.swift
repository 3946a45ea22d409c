// What this machine remembers of its archives: a disk that is not mounted must not look like a first use.

package import ArchiveFormat
package import FileIO
internal import Glibc
internal import Roots
package import SystemPackage

/// An archive that this user has captured into, remembered in a file of the user's state directory.
///
/// If the file cannot be written or read, nothing is remembered.
package struct KnownArchive: Sendable {
    package let path: FilePath
    /// The ids of the archives that were used at the path: several, if disks take turns.
    package let ids: [ArchiveID]
    /// The last use, to the hour.
    package let lastUsed: Timestamp
    /// The identity of each directory above the path, from the top, and last that of the archive's own; nil if the system
    /// does not report it.
    private let places: [[UInt8]?]

    private static let folder = "archives"
    private static let byteLimit = 1 << 16
    private static let archivesLimit = 1000
    /// The age in seconds at which `lastUsed` is updated.
    private static let hour: Int64 = 3600
    private static let fileSystemBytes = 8

    // MARK: Finding

    /// The archive remembered at `path`; nil if there is none.
    ///
    /// A place that was made again since, as a test's directory is, has no memory: what it held was removed with it. But
    /// what was on another disk was not.
    package static func find(at path: FilePath) -> KnownArchive? {
        guard let file = file(of: path), let known = KnownArchive(file), known.path == path, !known.isPlaceRemade else {
            return nil
        }
        return known
    }

    /// The archives of this user, the last used one first.
    package static var all: [KnownArchive] {
        guard let folder = Machine.stateFile(folder), let directory = try? folder.openDirectory(),
            let names = try? DirectoryReader.list(directory, path: .root)
        else { return [] }
        return names.compactMap { KnownArchive(folder.appending(String(decoding: $0.name, as: UTF8.self))) }
            .sorted { $0.lastUsed > $1.lastUsed }
    }

    private static func file(of path: FilePath) -> EnclosedPath? {
        Machine.stateFile("\(folder)/\(ChunkID(hashing: path.bytes).hex.prefix(16))")
    }

    /// Whether a directory above the path is another one, on the file system that the archive was on.
    ///
    /// Otherwise the archive's own file system is not mounted.
    private var isPlaceRemade: Bool {
        func isEqual(_ one: [UInt8]?, _ other: [UInt8]) -> Bool {
            one?.prefix(KnownArchive.fileSystemBytes) == other.prefix(KnownArchive.fileSystemBytes)
        }
        for (directory, old) in zip(KnownArchive.directories(above: path), places) {
            guard let old else { continue }
            guard let present = KnownArchive.identity(of: directory) else { return false }
            if present != old { return isEqual(present, old) && isEqual(places.last ?? nil, old) }
        }
        return false
    }

    /// Whether it is at its path, or on a disk that is not mounted there now; false if it was removed.
    package var exists: Bool {
        if let status = try? EnclosedPath(path).appending("archive.json").status, status.kind == .file { return true }
        for (directory, old) in zip(KnownArchive.directories(above: path), places).reversed() {
            guard let present = KnownArchive.identity(of: directory) else { continue }
            // The file system of the nearest directory is mounted.
            guard let deepest = places.last ?? nil, old != nil else { return false }
            return deepest.prefix(KnownArchive.fileSystemBytes) != present.prefix(KnownArchive.fileSystemBytes)
        }
        return false
    }

    private static func directories(above path: FilePath) -> [FilePath] {
        var directories: [FilePath] = []
        var directory = path
        while directory.removeLastComponent() { directories.append(directory) }
        return directories.reversed()
    }

    private static func identity(of directory: FilePath) -> [UInt8]? {
        guard let directory = try? Descriptor.open(directory, O_RDONLY | O_DIRECTORY) else { return nil }
        return FileStatus.identity(of: directory)
    }

    // MARK: Remembering

    /// Remembers that the archive `id` is at `path` now.
    package static func remember(_ id: ArchiveID, at path: FilePath) {
        guard let file = file(of: path) else { return }
        let places = (directories(above: path) + [path]).map { identity(of: $0) }
        var ids = [id]
        if let known = find(at: path) {
            if known.ids.contains(id), known.places == places,
                known.lastUsed.seconds > Timestamp.now.seconds - hour
            {
                return
            }
            ids += known.ids.filter { $0 != id }
        } else {
            limit()
        }
        let lines = ids.map { "archive \($0.hex)\n" } + places.map { "place \($0.map(Hex.string) ?? "-")\n" }
        try? DurableFile.replace(file, contents: Array(lines.joined().utf8) + Array("path ".utf8) + path.bytes)
    }

    /// Forgets the archives that were not used for longest if there are too many.
    private static func limit() {
        for known in all.dropFirst(archivesLimit - 1) { _ = try? file(of: known.path)?.remove() }
    }

    /// Reads the file; nil if it is no memory of an archive.
    private init?(_ file: EnclosedPath) {
        guard let descriptor = try? file.open(O_RDONLY), let status = try? FileStatus.read(descriptor),
            let bytes = try? descriptor.readToEnd(limit: KnownArchive.byteLimit, path: file.path)
        else { return nil }
        var (ids, places): ([ArchiveID], [[UInt8]?]) = ([], [])
        var rest = bytes[...]
        while let space = rest.firstIndex(of: UInt8(ascii: " ")) {
            let word = String(decoding: rest[..<space], as: UTF8.self)
            rest = rest[(space + 1)...]
            // The path may hold any byte, so it is the last value.
            if word == "path" { break }
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let value = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[end...].dropFirst()
            switch word {
            case "archive": if let id = ArchiveID(hex: value) { ids.append(id) }
            case "place": places.append(value == "-" ? nil : Hex.bytes(value))
            default: return nil
            }
        }
        guard !ids.isEmpty, !rest.isEmpty, !rest.contains(0) else { return nil }
        path = FilePath(bytes: rest)
        (self.ids, self.places, lastUsed) = (ids, places, status.modified)
    }
}
