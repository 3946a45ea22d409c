// Programs run by tests: arguments as bytes, stdout line by line, and a time limit.

internal import FileIO
internal import Foundation
internal import Glibc
package import SystemPackage

/// A running program, killed if it is released before its end.
///
/// Tests do not use Foundation's `Process`: it learns of an end by a socket that every program inherits that another
/// thread starts at that moment, so that a test waits for the end of another test's program.
package final class ChildProcess {
    /// The result of a program.
    package struct Outcome: Sendable {
        /// The exit status; minus the signal's number if a signal ended it.
        package let status: Int32
        package let output: [UInt8]
        package let error: [UInt8]

        package init(status: Int32, output: [UInt8], error: [UInt8]) {
            (self.status, self.output, self.error) = (status, output, error)
        }

        package var text: String { String(decoding: output, as: UTF8.self) }
        package var errorText: String { String(decoding: error, as: UTF8.self) }
        package var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package let id: Int32
    private let reader: Descriptor
    /// A stream without data that reaches its end when the program ends.
    private let lifeline: Descriptor
    private let errorFile: Descriptor
    private var output: [UInt8] = []
    /// The number of bytes of `output` that were returned as lines.
    private var consumed = 0
    private var isReaped = false
    private let deadline = ContinuousClock.now + .seconds(ChildProcess.patience)

    /// How long a program may run, in seconds.
    private static let patience = 300

    /// Starts `program`.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - environment: the variables beside `PATH` and `TZ`.
    ///   - input: a file for its stdin.
    ///   - joinsErrors: whether its stderr is its stdout.
    package init(
        _ program: FilePath, _ arguments: [[UInt8]], environment: [String: String] = [:], directory: FilePath = "/",
        input: FilePath = "/dev/null", joinsErrors: Bool = false
    ) throws {
        let output = try Spawn.stream()
        let life = try Spawn.stream()
        reader = Descriptor(owning: output.read)
        lifeline = Descriptor(owning: life.read)
        let writer = Descriptor(owning: output.write)
        let lifeEnd = Descriptor(owning: life.write)
        let errors = "/tmp/archiver-stderr-\(UInt64.random(in: 0...UInt64.max))"
        errorFile = Descriptor(owning: open(errors, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        unlink(errors)
        let source = try Descriptor.open(input, O_RDONLY)
        id = try Spawn.start(
            [program.bytes] + arguments, in: directory,
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC"].merging(environment) { $1 },
            descriptors: [
                STDIN_FILENO: source.number, STDOUT_FILENO: writer.number,
                STDERR_FILENO: joinsErrors ? writer.number : errorFile.number,
                ChildProcess.lifelineNumber: lifeEnd.number,
            ])
    }

    /// A number that other descriptors do not have.
    private static let lifelineNumber: Int32 = 200

    deinit {
        guard !isReaped else { return }
        kill(id, SIGKILL)
        _ = Spawn.waitForEnd(of: id)
    }

    /// Runs `program` and waits for its end.
    package static func run(
        _ program: FilePath, _ arguments: [[UInt8]], environment: [String: String] = [:], directory: FilePath = "/",
        input: FilePath = "/dev/null"
    ) throws -> Outcome {
        try ChildProcess(program, arguments, environment: environment, directory: directory, input: input).finish()
    }

    /// Starts a program by its name, with its arguments.
    package convenience init(
        _ words: [String], environment: [String: String] = [:], directory: FilePath = "/",
        input: FilePath = "/dev/null", joinsErrors: Bool = false
    ) throws {
        try self.init(
            FilePath(words.first ?? "true"), words.dropFirst().map { Array($0.utf8) }, environment: environment,
            directory: directory, input: input, joinsErrors: joinsErrors)
    }

    /// Runs a program by its name and waits for its end.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - input: what it reads from its stdin.
    package static func run(
        _ words: [String], environment: [String: String] = [:], directory: FilePath = "/", input: [UInt8] = [],
        joinsErrors: Bool = false
    ) throws -> Outcome {
        let place = try TemporaryDirectory()
        let file = place.path.appending("input")
        try Data(input).write(to: URL(filePath: file.string))
        let child = try ChildProcess(
            words, environment: environment, directory: directory, input: file, joinsErrors: joinsErrors)
        return try withExtendedLifetime(place) { try child.finish() }
    }

    /// The next line of stdout for which `matches` is true; earlier lines are skipped.
    package func line(where matches: (String) -> Bool) throws -> String {
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
    package func output(where matches: (String) -> Bool) throws {
        while !matches(String(decoding: output, as: UTF8.self)) {
            guard try readMore() else {
                let text = String(decoding: output, as: UTF8.self)
                throw Failure(description: "ended without the expected text; stdout: \(text) stderr: \(errorText)")
            }
        }
    }

    package func send(_ signal: CInt) { kill(id, signal) }

    /// Stops reading the program's output.
    package func closeOutput() throws {
        // Another file replaces the pipe, so that the descriptor stays owned.
        let null = try Descriptor.open("/dev/null", O_RDONLY)
        dup2(null.number, reader.number)
    }

    /// Waits for the program's end.
    package func finish() throws -> Outcome {
        while try readMore() {}
        try wait(for: lifeline)
        isReaped = true
        return Outcome(status: Spawn.waitForEnd(of: id), output: output, error: errorBytes)
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
            throw Failure(description: "no end within \(ChildProcess.patience) seconds; stderr: \(errorText)")
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
