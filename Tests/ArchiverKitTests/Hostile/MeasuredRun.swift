// Runs the program with time limits, and measures its peak memory.

import Foundation
import Glibc
import SystemPackage
import TestSupport

/// The result of a run of the program.
struct MeasuredRun {
    /// The exit status; 128 plus the signal's number if a signal ended it; 137 if it took too long.
    let status: Int
    /// The peak memory, in bytes.
    let memory: Int
    /// The beginning of the output, including errors.
    let output: String

    /// The limit of processor time, in seconds, for a run that never ends; independent of the machine's load.
    private static let workLimit = 100
    /// The limit of wall time, in seconds, for a run that waits for ever.
    private static let waitLimit = 1_500
    /// After this many bytes of output, the pipe is closed: a forged file may have exabytes.
    private static let readLimit = 4 << 20
    private static let keptLimit = 64 << 10

    /// Runs `archiver` with the arguments `words`.
    ///
    /// time(1) measures the memory: the kernel would count the memory of this process as the program's own.
    ///
    /// - Parameter scratch: a directory for a temporary file.
    init(_ words: [String], scratch: FilePath) throws {
        let report = scratch.appending("memory")
        defer { unlink(report.string) }
        let all =
            ["time", "-q", "-f", "%M", "-o", report.string, "timeout", "-s", "KILL", "\(MeasuredRun.waitLimit)"]
            + ["prlimit", "--cpu=\(MeasuredRun.workLimit)", BuiltProgram.path(of: "archiver")] + words
        let pipe = try ClosedOnExec()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipe.writer.fileDescriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, pipe.writer.fileDescriptor, 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = all.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        guard posix_spawnp(&child, "time", &actions, nil, &arguments, environ) == 0 else {
            throw SystemFailure("posix_spawn", "time")
        }
        try pipe.writer.close()
        var (count, kept) = (0, Data())
        while count < MeasuredRun.readLimit {
            let piece = pipe.reader.availableData
            if piece.isEmpty { break }
            count += piece.count
            kept += piece.prefix(MeasuredRun.keptLimit - kept.count)
        }
        try pipe.reader.close()
        output = String(decoding: kept, as: UTF8.self)
        var state: CInt = 0
        while waitpid(child, &state, 0) < 0 {
            guard errno == EINTR else { throw SystemFailure("waitpid", "time") }
        }
        let signal = Int(state & 0x7f)
        status = signal == 0 ? Int(state >> 8) & 0xff : 128 + signal
        let reported = String(decoding: try Files("/").read(report), as: UTF8.self)
        guard let kibibytes = reported.split(separator: "\n").last.flatMap({ Int($0) }) else {
            throw SystemFailure("time: \(reported)", report)
        }
        memory = kibibytes << 10
    }
}
