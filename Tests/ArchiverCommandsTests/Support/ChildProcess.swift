// Programs run by tests: arguments as bytes, stdout line by line, and a time limit.

import FileIO
import Glibc
import SystemPackage

/// A running program.
final class ChildProcess {
    /// The result of a program.
    struct Outcome {
        /// The exit status; minus the signal's number if a signal ended it.
        let status: Int32
        let output: [UInt8]
        let error: [UInt8]

        var text: String { String(decoding: output, as: UTF8.self) }
        var errorText: String { String(decoding: error, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let id: pid_t
    private let reader: Descriptor
    /// A stream without data that reaches its end when the program ends.
    private let lifeline: Descriptor
    private let errorFile: Descriptor
    private var output: [UInt8] = []
    /// The number of bytes of `output` that were returned as lines.
    private var consumed = 0
    private var isReaped = false
    private let deadline = ContinuousClock.now + .seconds(120)

    /// Starts `program`.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - input: a file for its stdin.
    init(
        _ program: FilePath, _ arguments: [[UInt8]], environment: [String: String] = [:], directory: FilePath,
        input: FilePath = "/dev/null"
    ) throws {
        let output = try ChildProcess.stream()
        let life = try ChildProcess.stream()
        reader = Descriptor(owning: output.read)
        lifeline = Descriptor(owning: life.read)
        let writer = Descriptor(owning: output.write)
        let lifeEnd = Descriptor(owning: life.write)
        var template = Array("/tmp/archiver-stderr-XXXXXX\0".utf8CString)
        errorFile = Descriptor(owning: mkstemp(&template))
        _ = fcntl(errorFile.number, F_SETFD, FD_CLOEXEC)
        unlink(template)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        input.withPlatformString { _ = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, $0, O_RDONLY, 0) }
        posix_spawn_file_actions_adddup2(&actions, writer.number, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errorFile.number, STDERR_FILENO)
        // A number that other descriptors do not have.
        posix_spawn_file_actions_adddup2(&actions, lifeEnd.number, 200)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A test runner may block or ignore signals, which the program would inherit.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var variables = ["PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC"]
        variables.merge(environment) { $1 }
        // env(1) changes the directory and then becomes the program.
        let strings = CStrings(["env", "-C"].map { Array($0.utf8) } + [directory.bytes, program.bytes] + arguments)
        let environmentStrings = CStrings(variables.map { Array("\($0)=\($1)".utf8) })
        var id = pid_t()
        let result = posix_spawnp(
            &id, "env", &actions, &attributes, strings.pointers, environmentStrings.pointers)
        guard result == 0 else { throw Failure(description: "cannot run \(program): \(Errno(rawValue: result))") }
        self.id = id
    }

    deinit {
        guard !isReaped else { return }
        kill(id, SIGKILL)
        var status: CInt = 0
        waitpid(id, &status, 0)
    }

    /// A stream that no other child inherits; a pair of sockets, because Glibc's module does not export pipe2(2).
    private static func stream() throws -> (read: CInt, write: CInt) {
        var ends: [CInt] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else {
            throw Failure(description: "socketpair: \(Errno.current)")
        }
        return (ends[0], ends[1])
    }

    /// Runs `program` and waits for its end.
    static func run(
        _ program: FilePath, _ arguments: [[UInt8]], environment: [String: String] = [:], directory: FilePath = "/",
        input: FilePath = "/dev/null"
    ) throws -> Outcome {
        try ChildProcess(program, arguments, environment: environment, directory: directory, input: input).finish()
    }

    /// The next line of stdout for which `matches` is true; earlier lines are skipped.
    func line(where matches: (String) -> Bool) throws -> String {
        while true {
            while let end = output[consumed...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: output[consumed..<end], as: UTF8.self)
                consumed = end + 1
                if matches(line) { return line }
            }
            guard try readMore() else {
                let text = String(decoding: output, as: UTF8.self)
                throw Failure(description: "ended without the expected line; stdout: \(text) stderr: \(errorText)")
            }
        }
    }

    /// Waits until the output on stdout so far satisfies `matches`.
    func output(where matches: (String) -> Bool) throws {
        while !matches(String(decoding: output, as: UTF8.self)) {
            guard try readMore() else {
                let text = String(decoding: output, as: UTF8.self)
                throw Failure(description: "ended without the expected text; stdout: \(text) stderr: \(errorText)")
            }
        }
    }

    func send(_ signal: CInt) { kill(id, signal) }

    /// Stops reading the program's output.
    func closeOutput() throws {
        // Another file replaces the pipe, so that the descriptor stays owned.
        let null = try Descriptor.open("/dev/null", O_RDONLY)
        dup2(null.number, reader.number)
    }

    /// Waits for the program's end.
    func finish() throws -> Outcome {
        while try readMore() {}
        try wait(for: lifeline)
        var status: CInt = 0
        waitpid(id, &status, 0)
        isReaped = true
        let signal = status & 0x7F
        return Outcome(status: signal == 0 ? (status >> 8) & 0xFF : -signal, output: output, error: errorBytes)
    }

    private var errorText: String { String(decoding: errorBytes, as: UTF8.self) }

    private var errorBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = pread(errorFile.number, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Waits until there is data to read, or the end.
    private func wait(for descriptor: borrowing Descriptor) throws {
        let left = ContinuousClock.now.duration(to: deadline).components.seconds
        var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        guard left > 0, poll(&request, 1, CInt(left * 1000)) > 0 else {
            throw Failure(description: "no output within two minutes; stderr: \(errorText)")
        }
    }

    /// Waits for data and reads it; false at the end.
    private func readMore() throws -> Bool {
        try wait(for: reader)
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(reader.number, &piece, piece.count)
        output += piece.prefix(max(0, count))
        return count > 0
    }
}

/// A NULL-terminated array of C strings, which is freed with the object.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [[UInt8]]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            let copy = string + [0]
            pointers[index] = copy.withUnsafeBytes { bytes in
                bytes.baseAddress.flatMap { strdup($0.assumingMemoryBound(to: CChar.self)) }
            }
        }
        pointers[count] = nil
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
