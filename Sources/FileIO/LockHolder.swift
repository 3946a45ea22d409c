// The holder of a lock as recorded in the lock file: process id, a space, the command.

internal import Glibc
internal import SystemPackage

/// A process that holds a lock.
package struct LockHolder: Sendable, Hashable {
    package let process: Int32
    /// The command with its arguments, unescaped; may contain control characters.
    package let command: String

    /// The most bytes in a lock file; longer commands are truncated.
    static let byteLimit = 4_096

    package init(process: Int32, command: String) {
        self.process = process
        self.command = command
    }

    /// Whether the process is stopped, as by Ctrl-Z or a debugger (proc(5), /proc/PID/stat).
    package var isStopped: Bool {
        let path = FilePath("/proc/\(process)/stat")
        guard let text = try? Descriptor.openFile(path, O_RDONLY).readToEnd(limit: LockHolder.byteLimit, path: path),
            let end = text.lastIndex(of: UInt8(ascii: ")")), end + 2 < text.count
        else { return false }
        return [UInt8(ascii: "T"), UInt8(ascii: "t")].contains(text[end + 2])
    }

    /// The calling process.
    package static var current: LockHolder {
        let command = CurrentProcess.arguments.joined(separator: [UInt8(ascii: " ")])
        return LockHolder(process: getpid(), command: String(decoding: Array(command), as: UTF8.self))
    }

    /// Parses a lock file's content; nil if it names no process.
    init?(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, let process = Int32(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        self.init(process: process, command: String(decoding: parts[1], as: UTF8.self))
    }

    /// A lock file's content.
    package var text: [UInt8] { Array("\(process) \(command)".utf8.prefix(LockHolder.byteLimit)) }
}
