// An archive with many snapshots of one small directory, made through the library, as one process per snapshot would
// take hours.

internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import SystemPackage

/// An archive that grows by snapshots of a small directory in which a link changes, and sometimes a file.
enum ManySnapshotsArchive {
    /// The file that changes in every hundredth state.
    ///
    /// A capture waits for 20 ms before it reads a file that has just changed; a hundred thousand times that would take
    /// too long. It reads a link immediately.
    static let file = "notes.txt"
    private static let statesPerFile = 100
    private static let link = "state"
    private static let others = 9

    /// The captured directory.
    static func tree(in place: FilePath) -> FilePath { place.appending("tree") }
    static func store(in place: FilePath) -> FilePath { place.appending("archive") }

    /// Grows the archive in `place` to `count` snapshots; creates the archive and the directory if they are missing.
    static func grow(in place: FilePath, to count: Int) throws {
        let tree = tree(in: place)
        try Directory.create(tree, permissions: 0o755, durable: false)
        for other in 0..<others {
            try TextFile.write("file \(other) stays as it is\n", to: tree.appending("other\(other).txt"))
        }
        let archive = try Archive.open(store(in: place), creating: true)
        var present = try archive.snapshotCount()
        while present < count {
            try Interruption.check()
            present += 1
            if present % statesPerFile == 1 { try TextFile.write(text(ofState: present), to: tree.appending(file)) }
            unlink(tree.appending(link).string)
            guard symlink("state-\(present)", tree.appending(link).string) == 0 else {
                throw BenchmarkError("\(tree): \(Errno(rawValue: errno))")
            }
            guard try archive.capture(tree).snapshot != nil else {
                throw BenchmarkError("the change number \(present) made no snapshot")
            }
        }
    }

    /// The file's text at the snapshot `number`, counted from 1.
    static func text(ofState number: Int) -> String {
        "what is noted down in state \(number)\n" + String(repeating: "a line that stays\n", count: 20)
    }
}
