// Programs run by tests of watching: start them, read their output, send signals, wait for their end.

import Foundation
import Glibc
import SystemPackage

/// A running program whose output is read line by line; killed if it is released before its end.
final class Program {
    private let process = Process()
    private let output: ProgramOutput

    /// The program ended while something else was expected.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: the program's name, found as a shell does, and its arguments.
    ///   - input: the program's standard input; nil for none.
    init(_ words: [String], input: FileHandle? = nil) throws {
        let pipe = try ClosedOnExec()
        output = ProgramOutput(pipe.reader)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = pipe.writer
        process.standardInput = input ?? FileHandle.nullDevice
        // A process started in the background ignores SIGINT, and the program would inherit that.
        signal(SIGINT, SIG_DFL)
        try process.run()
        try pipe.writer.close()
        output.startReading()
    }

    deinit {
        if process.isRunning { send(SIGKILL) }
    }

    var identifier: pid_t { process.processIdentifier }

    /// The next line of output; nil after the program's end.
    func nextLine() async -> String? {
        let identifier = identifier
        return await withTaskCancellationHandler {
            await output.nextLine()
        } onCancel: {
            // Its end then wakes the waiter.
            kill(identifier, SIGKILL)
        }
    }

    /// The lines written so far that were not returned yet.
    func takeLines() -> [String] { output.takeLines() }

    /// The next line for which `isWanted` is true; skips the lines before it.
    @discardableResult
    func line(where isWanted: (String) -> Bool) async throws -> String {
        while let line = await nextLine() {
            if isWanted(line) { return line }
        }
        throw Ended(description: "ended too early, after: \(output.text.suffix(2_000))")
    }

    func send(_ signal: CInt) { kill(identifier, signal) }

    /// Waits for the program's end.
    ///
    /// - Returns: its exit status, or minus the signal's number if a signal ended it, and its whole output.
    func end() async throws -> (status: Int32, output: String) {
        while await nextLine() != nil {}
        let process = process
        try await onThread { process.waitUntilExit() }
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return (status, output.text)
    }
}

/// A pipe whose ends are not inherited by other programs, which would hold them open.
struct ClosedOnExec {
    let reader: FileHandle
    let writer: FileHandle

    init() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemFailure("pipe", "") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        writer = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
}
