// What the machine itself needs: programs that do less than an archive does.

internal import SystemPackage

/// Programs that set the limit.
enum Floors {
    static let copyName = "cp -a"
    static let tarName = "tar, zstd -1"
    static let findName = "find with stat"

    static func copy(_ tree: FilePath, to target: FilePath) -> Command {
        Command("cp", "-a", tree.string, target.string)
    }

    /// The status of every object, which is the least that a capture without a watcher must ask for.
    static func find(_ tree: FilePath) -> Command { Command("find", tree.string, "-printf", "%s %C@\\n") }

    static var hasZstd: Bool { Command.isInstalled("zstd") }

    static func tar(_ tree: FilePath, to target: FilePath) -> Command {
        Command("tar", "-I", "zstd -1", "-cf", target.string, "-C", tree.string, ".")
    }
}
