// A run of the program that is stopped when it takes too long, with the most memory that it had.

import Foundation
import Glibc
import SystemPackage
import TestSupport

/// How a run of the program ended.
struct MeasuredRun {
    /// The exit status; 128 and the signal's number where a signal ended it; 137 where it took too long.
    let status: Int
    /// The most memory that it had, in bytes.
    let memory: Int
    /// The beginning of what it wrote, errors too.
    let output: String

    /// Seconds of processor: a run that works for ever is killed, however busy the machine is.
    private static let workLimit = 100
    /// Seconds: a run that waits for ever is killed.
    private static let waitLimit = 1_500
    /// Bytes after which nobody reads the output any more: a forged file may have exabytes.
    private static let readLimit = 4 << 20
    private static let keptLimit = 64 << 10

    /// Runs `archiver` with the arguments `words`.
    ///
    /// time(1) reports the memory: the kernel counts that of the process that starts a program as the program's own.
    ///
    /// - Parameter scratch: a directory for a file of its own.
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
        let told = String(decoding: try Files("/").read(report), as: UTF8.self)
        guard let kibibytes = told.split(separator: "\n").last.flatMap({ Int($0) }) else {
            throw SystemFailure("time: \(told)", report)
        }
        memory = kibibytes << 10
    }
}
