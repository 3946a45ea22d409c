// Lower bounds set by the machine: programs that do less than an archive does.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Programs that set a lower bound.
enum Floors {
    static let copyName = "cp -a"
    static let tarName = "tar, zstd -1"
    static let findName = "find with stat"

    static func copy(_ tree: FilePath, to target: FilePath) -> Command {
        Command("cp", "-a", tree.string, target.string)
    }

    /// Reads the status of every object, the least that a capture without a watcher must do.
    static func find(_ tree: FilePath) -> Command { Command("find", tree.string, "-printf", "%s %C@\\n") }

    static let walkName = "walk: open, stat, read, stat, close in two processes"

    /// Reads every file, the least that a first capture must do.
    static func walk(_ tree: FilePath) throws -> Command { try Helper.command("walk", tree.string, "2") }

    static let packName = "pack: read, hash, deflate in two processes"

    /// Hashes and deflates every file at the level of captures, without an index or an archive.
    static func pack(_ tree: FilePath) throws -> Command { try Helper.command("pack", tree.string, "2") }

    static let twoSyncsName = "two appends, each with fdatasync"

    /// The seconds that the two appends of a commit take in `directory`, each made durable: what a save costs the disk.
    static func twoSyncs(in directory: FilePath, count: Int) throws -> [Double] {
        let path = directory.appending("two-syncs")
        let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, permissions: 0o600)
        defer { unlink(path.string) }
        return try (0..<count).map { _ in
            let start = ContinuousClock.now
            for byteCount in [600, 150] {
                try file.write([UInt8](repeating: 7, count: byteCount), path: path)
                try file.synchronizeData(path: path)
            }
            return (ContinuousClock.now - start).seconds
        }
    }

    static var hasZstd: Bool { Command.isInstalled("zstd") }

    static func tar(_ tree: FilePath, to target: FilePath) -> Command {
        Command("tar", "-I", "zstd -1", "-cf", target.string, "-C", tree.string, ".")
    }
}
