// Long output on a terminal goes through a pager, as git does it.

internal import FileIO
internal import Glibc
internal import Locking

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The program through which a person reads long output.
enum Pager {
    private static let process = Locked<pid_t?>(nil)

    /// Sends standard output through the pager from here on, where a person reads it.
    ///
    /// To be called before anything is written, and before there is a second thread.
    static func start(_ console: Console, _ options: GlobalOptions) {
        guard console.isForPerson, !options.noPager, isatty(STDIN_FILENO) == 1, let command else { return }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { for end in ends { close(end) } }
        if let id = spawn(command, input: ends[0]) {
            dup2(ends[1], STDOUT_FILENO)
            // Ctrl-C is for the pager; when that ends, so does what writes to it.
            signal(SIGINT, SIG_IGN)
            process.withLock { $0 = id }
        }
    }

    /// Waits until the person has seen enough; to be called when all is written.
    static func finish() {
        guard let id = process.withLock({ $0 }) else { return }
        close(STDOUT_FILENO)
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
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

    private static func spawn(_ command: String, input: CInt) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What this program ignores or blocks is no matter of the pager's.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = ["sh", "-c", command].map { (text: String) in strdup(text) }
        let variables = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") }
        defer { for text in arguments + variables { free(text) } }
        var id = pid_t()
        return posix_spawnp(&id, "sh", &actions, &attributes, arguments + [nil], variables + [nil]) == 0 ? id : nil
    }
}
