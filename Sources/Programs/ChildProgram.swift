// Starts other programs, with default signal handling.

internal import CLinux
package import FileIO
internal import Glibc
package import SystemPackage

/// A program that this one started.
package struct ChildProgram: Sendable {
    package let id: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: its name, which is searched in `$PATH`, and its arguments.
    ///   - input: the descriptor of its stdin; nil to inherit this program's.
    ///   - output: the descriptor of its stdout; nil to inherit this program's.
    ///   - error: the descriptor of its stderr; nil to inherit this program's.
    ///   - directory: its current directory; nil for this program's.
    ///   - leadsGroup: whether it gets a process group of its own, so that what it starts can be ended with it.
    /// - Throws: `FileError` if the program does not exist or cannot be run.
    package init(
        _ words: [[UInt8]], input: CInt? = nil, output: CInt? = nil, error: CInt? = nil, in directory: FilePath? = nil,
        leadsGroup: Bool = false
    ) throws(FileError) {
        let standard = [STDIN_FILENO: input, STDOUT_FILENO: output, STDERR_FILENO: error]
        try self.init(
            words, descriptors: standard.compactMapValues { $0 }, in: directory, leadsGroup: leadsGroup)
    }

    /// Starts a program, as above.
    ///
    /// - Parameters:
    ///   - descriptors: open descriptors of this program by their numbers in the other.
    ///   - environment: all its variables, as `NAME=value`; nil for this program's.
    package init(
        _ words: [[UInt8]], descriptors: [CInt: CInt], environment: [[UInt8]]? = nil, in directory: FilePath? = nil,
        leadsGroup: Bool = false
    ) throws(FileError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in descriptors.sorted(by: { $0.key < $1.key }) {
            posix_spawn_file_actions_adddup2(&actions, source, number)
        }
        directory?.withPlatformString { _ = clinux_spawn_in(&actions, $0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child must not inherit blocked and ignored signals.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let group = leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
        let arguments = words.map(ChildProgram.copy)
        let variables = environment?.map(ChildProgram.copy)
        defer { for text in arguments + (variables ?? []) { free(text) } }
        var id = pid_t()
        let name = FilePath(bytes: words.first ?? [])
        guard case let first?? = arguments.first else { throw FileError("run", name, .invalidArgument) }
        let result =
            if let variables {
                posix_spawnp(&id, first, &actions, &attributes, arguments + [nil], variables + [nil])
            } else {
                posix_spawnp(&id, first, &actions, &attributes, arguments + [nil], clinux_environment())
            }
        if result != 0 { throw FileError("run", name, Errno(rawValue: result)) }
        self.id = id
    }

    /// Whether the program has ended; it stays to be waited for, so that its process group's number is not reused.
    package var hasEnded: Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT) != 0 || information.si_signo != 0
    }

    /// A copy of `text` as a C string, to be freed.
    private static func copy(_ text: [UInt8]) -> UnsafeMutablePointer<CChar>? {
        (text + [0]).withUnsafeBytes { bytes in
            bytes.assumingMemoryBound(to: CChar.self).baseAddress.flatMap { strdup($0) }
        }
    }

    /// How a program ended.
    package enum End: Sendable {
        case exited(status: Int32)
        case killed(signal: Int32)
    }

    /// Waits until the program with this id ends; nil if it is no child of this program.
    package static func end(of id: Int32) -> End? {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0 {
            if errno != EINTR { return nil }
        }
        // WIFEXITED and the like are macros, which Swift does not import (wait(2)).
        let signal = status & 0x7f
        return signal == 0 ? .exited(status: (status >> 8) & 0xff) : .killed(signal: signal)
    }

    /// Waits until the program ends.
    ///
    /// - Returns: its exit status as shells report it: 128 plus the signal's number if a signal killed it.
    package func wait() -> Int32 {
        switch ChildProgram.end(of: id) {
        case .exited(let status): status
        case .killed(let signal): 128 + signal
        case nil: ChildProgram.notRun
        }
    }

    /// The exit status for a program that could not be run, as in shells: 127 if it does not exist, else 126.
    package static func status(of error: FileError) -> Int32 {
        error.code == .noSuchFileOrDirectory || error.code == .notDirectory ? 127 : 126
    }

    private static let notRun: Int32 = 126
}
