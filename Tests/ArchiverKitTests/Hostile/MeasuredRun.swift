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
        guard let none = FileHandle(forReadingAtPath: "/dev/null") else { throw SystemFailure("open", "/dev/null") }
        let writer = pipe.writer.fileDescriptor
        let child = try Spawn.start(
            all.map { Array($0.utf8) },
            descriptors: [STDIN_FILENO: none.fileDescriptor, STDOUT_FILENO: writer, STDERR_FILENO: writer])
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
        let result = Spawn.waitForEnd(of: child)
        status = result < 0 ? 128 - Int(result) : Int(result)
        let reported = String(decoding: try Files("/").read(report), as: UTF8.self)
        guard let kibibytes = reported.split(separator: "\n").last.flatMap({ Int($0) }) else {
            throw SystemFailure("time: \(reported)", report)
        }
        memory = kibibytes << 10
    }
}
