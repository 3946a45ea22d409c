// Lower bounds set by the machine: programs that do less than an archive does.

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

    static var hasZstd: Bool { Command.isInstalled("zstd") }

    static func tar(_ tree: FilePath, to target: FilePath) -> Command {
        Command("tar", "-I", "zstd -1", "-cf", target.string, "-C", tree.string, ".")
    }
}
