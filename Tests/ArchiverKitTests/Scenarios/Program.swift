// Programs run by tests of watching: start them, read their output, send signals, wait for their end.

import Foundation
import Glibc
import SystemPackage
import TestSupport

/// A running program whose output is read line by line; killed if it is released before its end.
final class Program {
    private let output: ProgramOutput
    private var isReaped = false
    let identifier: pid_t

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
        let none = FileHandle(forReadingAtPath: "/dev/null")
        guard let input = input ?? none else { throw SystemFailure("open", "/dev/null") }
        identifier = try Spawn.start(
            // env(1) also sets variables.
            (["env"] + words).map { Array($0.utf8) },
            descriptors: [
                STDIN_FILENO: input.fileDescriptor, STDOUT_FILENO: pipe.writer.fileDescriptor,
                STDERR_FILENO: STDERR_FILENO,
            ])
        try pipe.writer.close()
        output.startReading()
    }

    deinit {
        guard !isReaped else { return }
        send(SIGKILL)
        _ = Spawn.waitForEnd(of: identifier)
    }

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
        let identifier = identifier
        let status = try await onThread { Spawn.waitForEnd(of: identifier) }
        isReaped = true
        return (status, output.text)
    }
}

/// A pipe whose ends are not inherited by other programs, which would hold them open.
struct ClosedOnExec {
    let reader: FileHandle
    let writer: FileHandle

    init() throws {
        let ends = try Spawn.stream()
        reader = FileHandle(fileDescriptor: ends.read, closeOnDealloc: true)
        writer = FileHandle(fileDescriptor: ends.write, closeOnDealloc: true)
    }
}
