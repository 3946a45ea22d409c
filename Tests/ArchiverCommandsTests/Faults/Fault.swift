// The faults of system calls, and the tool that injects them.

import FileIO
import Foundation
import SystemPackage
import TestSupport

/// A fault of a system call.
enum Fault: String, CaseIterable {
    case inputOutputError = "EIO"
    case noSpace = "ENOSPC"
    case accessDenied = "EACCES"
    case tooManyFiles = "EMFILE"
    case quota = "EDQUOT"
    case interrupted = "EINTR"
    /// Only half of the bytes are read or written.
    case short
    case killedBefore = "kill-before"
    case killedAfter = "kill-after"
    /// Half of the bytes are written, then the program is killed.
    case torn = "tear"
    /// From this call on, the disk is full, or fails.
    case diskFull = "ENOSPC --lasting"
    case diskFailure = "EIO --lasting"

    var words: [String] { ["--fault"] + rawValue.split(separator: " ").map(String.init) }
    /// Whether the fault kills the program.
    var isDeadly: Bool { [.killedBefore, .killedAfter, .torn].contains(self) }

    /// Whether the fault can happen to the system call `name` in practice and have an effect.
    func canMeet(_ name: String) -> Bool {
        let moves = ["read", "pread64", "write", "pwrite64"]
        let waits = ["openat", "fcntl", "fsync", "fdatasync", "ftruncate"] + moves
        let writes = name.hasSuffix("write") || name == "pwrite64"
        switch self {
        case .inputOutputError: return true
        case .diskFailure, .noSpace, .quota, .diskFull, .killedBefore, .killedAfter:
            return Fault.isChange(name) || name.hasPrefix("open")
        case .accessDenied: return name.hasPrefix("open") || name.hasSuffix("stat") || name == "statx"
        case .tooManyFiles: return name.hasPrefix("open")
        case .interrupted: return waits.contains(name)
        case .short: return moves.contains(name)
        case .torn: return writes
        }
    }

    /// Whether the system call `name` changes nothing and moves no bytes.
    static func onlyLooks(_ name: String) -> Bool {
        name.contains("stat") || ["access", "faccessat", "fcntl", "lseek", "readlink", "readlinkat"].contains(name)
    }

    /// Whether the system call `name` changes something, whatever its arguments are; an open may create a file.
    static func isChange(_ name: String) -> Bool { changes.contains(name) }

    private static let changes: Set = [
        "write", "pwrite64", "fallocate", "ftruncate", "fsync", "fdatasync", "syncfs", "mkdir", "mkdirat",
        "unlink", "unlinkat", "rmdir", "renameat", "renameat2", "linkat", "symlinkat", "mknodat", "fchmod", "fchmodat",
        "fchown", "fchownat", "utimensat", "fsetxattr", "lsetxattr",
    ]
}

/// The program `faults`, which runs another program with faults.
enum FaultTool {
    /// A counted system call.
    struct Call: CustomStringConvertible {
        let number: Int
        let name: String
        let path: String
        let isHit: Bool

        var description: String { "call \(number), \(name) of \(path)" }
    }

    static let path = FilePath(BuiltProgram.path(of: "faults"))
    private static let failed: Int32 = 125

    /// Whether programs can be traced, which not every processor and container allows.
    static let isUsable: Bool = {
        let outcome = try? ChildProcess.run(
            path, ["run", "--below", "/tmp", "--", "/bin/true"].map { Array($0.utf8) })
        return outcome?.status == 0
    }()

    /// Runs the program and arguments in `words`; counts calls on files below `directory`.
    static func run(
        _ options: [String], below directory: FilePath, list: FilePath, _ words: [String],
        environment: [String: String]
    ) throws -> (outcome: ChildProcess.Outcome, calls: [Call]) {
        let arguments = ["run", "--below", directory.string, "--list", list.string] + options + ["--"] + words
        let outcome = try ChildProcess.run(path, arguments.map { Array($0.utf8) }, environment: environment)
        if outcome.status == failed { throw ChildProcess.Failure(description: "faults: \(outcome.errorText)") }
        let text = try String(contentsOfFile: list.string, encoding: .utf8)
        return (outcome, text.split(separator: "\n").compactMap { Call(String($0)) })
    }

    /// The number of changes in a recording.
    static func cuts(of recording: FilePath) throws -> Int {
        let outcome = try ChildProcess.run(path, ["cuts", recording.string].map { Array($0.utf8) })
        return Int(outcome.text.split(separator: "\n").first ?? "") ?? 0
    }

    /// Creates in `directory` a state that a power failure after the change `cut` can leave.
    ///
    /// - Returns: the program's output up to then.
    static func losePower(
        _ recording: FilePath, behind cut: Int, seed: UInt64, in directory: FilePath
    ) throws -> [UInt8] {
        let words = ["lose", recording.string, String(cut), String(seed), directory.string]
        let outcome = try ChildProcess.run(path, words.map { Array($0.utf8) })
        if outcome.status != 0 { throw ChildProcess.Failure(description: "faults: \(outcome.errorText)") }
        return outcome.output
    }
}

extension FaultTool.Call {
    /// Parses a line of the list: number, name, path, and whether the fault hit the call.
    fileprivate init?(_ line: String) {
        let fields = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 3, let number = Int(fields[0]) else { return nil }
        let mark = " FAULT"
        self.init(
            number: number, name: fields[1],
            path: fields[2].hasSuffix(mark) ? String(fields[2].dropLast(mark.count)) : fields[2],
            isHit: fields[2].hasSuffix(mark))
    }
}
