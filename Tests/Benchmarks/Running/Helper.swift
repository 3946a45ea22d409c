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

    /// This binary's path.
    static func binary() throws -> FilePath {
        guard let path = realpath("/proc/self/exe", nil) else {
            throw BenchmarkError("/proc/self/exe: \(Errno(rawValue: errno))")
        }
        defer { free(path) }
        return FilePath(platformString: path)
    }
}
