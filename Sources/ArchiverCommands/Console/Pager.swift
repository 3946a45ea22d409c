// Long output on a terminal goes through a pager, as git does it.

internal import FileIO
internal import Glibc
internal import Threading

/// The program through which a person reads long output.
enum Pager {
    private static let process = Locked<ChildProgram?>(nil)

    /// Sends standard output through the pager from here on, where a person reads it.
    ///
    /// To be called before anything is written, and before there is a second thread.
    static func start(_ console: Console, _ options: GlobalOptions) {
        guard console.isForPerson, !options.noPager, isatty(STDIN_FILENO) == 1, let command else { return }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { for end in ends { close(end) } }
        guard let pager = try? ChildProgram(["sh", "-c", command].map { Array($0.utf8) }, input: ends[0]) else {
            return
        }
        dup2(ends[1], STDOUT_FILENO)
        // Ctrl-C is for the pager; when that ends, so does what writes to it.
        signal(SIGINT, SIG_IGN)
        process.withLock { $0 = pager }
    }

    /// Waits until the person has seen enough; to be called when all is written.
    static func finish() {
        guard let pager = process.withLock({ $0 }) else { return }
        close(STDOUT_FILENO)
        _ = pager.wait()
    }

    /// The command to run; nil for none.
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
