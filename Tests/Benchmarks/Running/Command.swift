// A program with its arguments, to be run to its end and measured.

internal import Glibc
internal import SystemPackage

/// A program and its arguments.
struct Command {
    /// The program, found in PATH, and its arguments.
    let words: [String]
    /// Environment variables in addition to the benchmark's own.
    var environment: [String: String] = [:]
    /// Its working directory; nil for the benchmark's.
    var directory: FilePath?
    /// Exit statuses that do not count as failures.
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

    /// Runs the program to its end; discards its stdout.
    @discardableResult
    func run() throws -> Measurement {
        let program = try RunningProgram(self, output: .discarded)
        return try program.finish().measurement
    }

    /// Runs the program to its end and returns its stdout.
    func text() throws -> String {
        let program = try RunningProgram(self, output: .kept)
        return try program.finish().text
    }

    /// Runs the program as one piece of work.
    func measured() throws -> Measurement { try [self].measured() }

    /// Runs a program that writes below `target`, until all of it is on the disk: some return before that, others not.
    func measuredToDisk(_ target: FilePath) throws -> Measurement {
        try [self, Command("sync", "--file-system", target.string)].measured()
    }

    /// Waits until all earlier writes are on disk and no file has just changed, as archiver waits for that before it
    /// reads a file.
    fileprivate static func calmDown() {
        sync()
        usleep(50_000)
    }
}

extension [Command] {
    /// Runs the commands one after another, as one piece of work.
    func measured() throws -> Measurement {
        Command.calmDown()
        return try reduce(Measurement(seconds: 0)) { try $0 + $1.run() }
    }
}
