// Runs the benchmark's own binary for work that must not share memory or time with the benchmark.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Runs this binary again.
enum Helper {
    /// This binary with the arguments of its subcommand `help-with`.
    static func command(_ words: String...) throws -> Command {
        Command([try binary().string, "help-with"] + words)
    }

    /// Does a work that several processes share: starts the others, does the first part itself, and waits for all.
    ///
    /// - Parameter run: does one part.
    static func share(
        _ what: String, of tree: FilePath, among processes: Int, _ run: (_ part: Int) throws -> Void
    ) throws {
        let others = try (1..<max(1, processes)).map { part in
            try RunningProgram(
                command(what, tree.string, String(processes), "--part", String(part)), output: .discarded)
        }
        try run(0)
        for other in others { _ = try other.finish() }
    }

    /// This binary's path.
    static func binary() throws -> FilePath {
        guard let path = realpath("/proc/self/exe", nil) else {
            throw BenchmarkError("/proc/self/exe: \(Errno(rawValue: errno))")
        }
        defer { free(path) }
        return FilePath(platformString: path)
    }
}
