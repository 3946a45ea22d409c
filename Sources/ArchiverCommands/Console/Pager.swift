// Shows long output on a terminal in a pager, as git does.

internal import FileIO
internal import Glibc
internal import Programs
internal import Threading

/// The pager for long output.
enum Pager {
    private static let process = Locked<ChildProgram?>(nil)

    /// Starts the pager and redirects standard output to it, if a person reads the output.
    ///
    /// Call it before anything is written and before the first additional thread starts.
    ///
    /// - Parameter atEnd: whether the end of the output is shown first, because the newest is there.
    static func start(_ console: Console, _ options: GlobalOptions, atEnd: Bool = false) {
        guard console.isForPerson, console.output.isTerminal, !options.noPager, isatty(STDIN_FILENO) == 1, var command
        else { return }
        // Only less is known to understand this.
        if atEnd, command.split(separator: " ").first?.split(separator: "/").last == "less" { command += " +G" }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { for end in ends { close(end) } }
        guard let pager = try? ChildProgram(["sh", "-c", command].map { Array($0.utf8) }, input: ends[0]) else {
            return
        }
        dup2(ends[1], STDOUT_FILENO)
        // Ctrl-C is for the pager; when the pager ends, the closed pipe ends this program.
        signal(SIGINT, SIG_IGN)
        process.withLock { $0 = pager }
    }

    /// Waits until the user leaves the pager; call it when all output is written.
    static func finish() {
        guard let pager = process.withLock({ $0 }) else { return }
        close(STDOUT_FILENO)
        _ = pager.wait()
    }

    /// The pager's command; nil to use no pager.
    private static var command: String? {
        for name in ["ARCHIVER_PAGER", "PAGER"] {
            guard let value = getenv(name).map({ String(cString: $0) }) else { continue }
            return value.isEmpty || value == "cat" ? nil : value
        }
        let directories = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let isThere = directories.split(separator: ":").contains { access("\($0)/less", X_OK) == 0 }
        return isThere ? "less -FRX" : nil
    }
}
