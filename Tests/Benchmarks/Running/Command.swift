// A program with its arguments, run to its end and measured.

internal import Glibc
internal import SystemPackage

/// A program and its arguments.
struct Command {
    /// The program, looked for as a shell does, and its arguments.
    let words: [String]
    /// Variables beside those of the benchmark itself.
    var environment: [String: String] = [:]
    /// Where it is run; nil for where the benchmark is.
    var directory: FilePath?
    /// Exit statuses that are no failure.
    var expected: Set<Int32> = [0]

    init(_ words: String..., environment: [String: String] = [:]) {
        self.init(words, environment: environment)
    }

    init(_ words: [String], environment: [String: String] = [:]) {
        self.words = words
        self.environment = environment
    }

    /// The same command, run in `directory`.
    func inDirectory(_ directory: FilePath) -> Command {
        var command = self
        command.directory = directory
        return command
    }

    /// Whether a shell would find `program`.
    static func isInstalled(_ program: String) -> Bool {
        let places = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return places.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Runs the program to its end; what it writes to stdout goes nowhere.
    @discardableResult
    func run() throws -> Measurement {
        let program = try RunningProgram(self, output: .discarded)
        return try program.finish().measurement
    }

    /// Runs the program to its end and gives what it wrote to stdout.
    func text() throws -> String {
        let program = try RunningProgram(self, output: .kept)
        return try program.finish().text
    }

    /// Runs the program as one piece of work of its own.
    func measured() throws -> Measurement { try [self].measured() }

    /// Waits until all that others have written is on the disk, and until no file has changed just now: archiver waits
    /// for that before it reads a file.
    fileprivate static func calmDown() {
        sync()
        usleep(50_000)
    }
}

extension [Command] {
    /// Runs the commands one after the other, as one piece of work.
    func measured() throws -> Measurement {
        Command.calmDown()
        return try reduce(Measurement(seconds: 0)) { try $0 + $1.run() }
    }
}
