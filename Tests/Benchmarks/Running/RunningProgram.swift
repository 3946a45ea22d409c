// A running program: its output line by line, signals, its end, and its cost.

internal import Glibc
internal import SystemPackage

/// A running program; killed if it is released before its end.
final class RunningProgram {
    /// What happens to the program's stdout.
    enum Output {
        case discarded
        case kept
    }

    private let command: Command
    private let output: UnsafeMutablePointer<FILE>?
    private let errors: UnsafeMutablePointer<FILE>?
    private let start = ContinuousClock.now
    let id: pid_t
    private var isReaped = false

    /// Starts the program of `command` with an empty stdin.
    init(_ command: Command, output: Output) throws {
        try Interruption.check()
        self.command = command
        errors = tmpfile()
        var ends: [CInt] = [-1, -1]
        if output == .kept, pipe(&ends) != 0 { throw BenchmarkError("pipe: \(Errno(rawValue: errno))") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        if output == .kept {
            _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
            posix_spawn_file_actions_addclose(&actions, ends[1])
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        }
        if let errors { posix_spawn_file_actions_adddup2(&actions, fileno(errors), STDERR_FILENO) }
        RunningProgram.forgetOwnPeak()
        // env(1) changes the directory, sets the variables, and then executes the program.
        let place = command.directory.map { ["-C", $0.string] } ?? []
        let words = ["env"] + place + command.environment.map { "\($0)=\($1)" }.sorted() + command.words
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id = pid_t()
        let result = posix_spawnp(&id, "env", &actions, nil, &arguments, environ)
        if output == .kept { close(ends[1]) }
        self.id = id
        self.output = output == .kept ? fdopen(ends[0], "r") : nil
        guard result == 0 else { throw BenchmarkError("cannot run \(words): \(Errno(rawValue: result))") }
    }

    deinit {
        if !isReaped {
            kill(id, SIGKILL)
            waitpid(id, nil, 0)
        }
        if let output { fclose(output) }
        if let errors { fclose(errors) }
    }

    /// Resets this process's peak memory to the current value; see proc(5), clear_refs.
    ///
    /// Otherwise the kernel would count this process's peak for each program that it starts: execve(2) takes over the
    /// counter of the replaced address space.
    private static func forgetOwnPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    /// Time since the start, in seconds.
    var seconds: Double { (ContinuousClock.now - start).seconds }

    /// Returns the next line of the program's stdout; nil at the end.
    func nextLine() -> String? {
        guard let output else { return nil }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        Interruption.waits(for: id)
        defer { Interruption.waits(for: 0) }
        let length = getline(&line, &capacity, output)
        guard length > 0, let line else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: line, count: length), as: UTF8.self)
    }

    func send(_ signal: CInt) { kill(id, signal) }

    /// Whether it has ended; `finish` returns how.
    var hasEnded: Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(id), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == SIGCHLD
    }

    /// The peak resident memory so far, in bytes (proc(5), VmHWM); nil if unknown.
    var peakBytes: Int? {
        guard let status = try? TextFile.read(FilePath("/proc/\(id)/status")) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// Waits for the program's end.
    ///
    /// - Returns: the cost, and the part of its stdout that was not read yet.
    /// - Throws: `BenchmarkError` if it failed.
    func finish() throws -> (measurement: Measurement, text: String) {
        var text = ""
        while let line = nextLine() { text += line }
        Interruption.waits(for: id)
        defer { Interruption.waits(for: 0) }
        var status: CInt = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw BenchmarkError("wait4: \(Errno(rawValue: errno))") }
        }
        let seconds = self.seconds
        isReaped = true
        try Interruption.check()
        let signal = status & 0x7F
        let code = signal == 0 ? (status >> 8) & 0xFF : -signal
        guard command.expected.contains(code) else {
            throw BenchmarkError("\(command.words.joined(separator: " ")): ended with \(code)\n\(errorText)")
        }
        let processor = [usage.ru_utime, usage.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
        let measurement = Measurement(
            seconds: seconds, processorSeconds: processor.reduce(0, +), peakBytes: Int(usage.ru_maxrss) << 10)
        return (measurement, text)
    }

    /// The end of the program's stderr.
    var errorText: String {
        guard let errors else { return "" }
        rewind(errors)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, errors)
        return String(decoding: bytes.prefix(count).suffix(2_000), as: UTF8.self)
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
