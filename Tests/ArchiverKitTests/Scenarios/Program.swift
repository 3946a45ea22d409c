// Programs run by tests of watching: started, listened to, signalled, awaited.

import Foundation
import Glibc
import SystemPackage

/// A running program whose output is read line by line; killed where it is let go of before its end.
final class Program {
    private let process = Process()
    private let output: ProgramOutput

    /// The program ended where something else was awaited.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: its name, which is looked for as a shell does, and its arguments.
    ///   - input: what it reads; nil for nothing.
    init(_ words: [String], input: FileHandle? = nil) throws {
        let pipe = try ClosedOnExec()
        output = ProgramOutput(pipe.reader)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = pipe.writer
        process.standardInput = input ?? FileHandle.nullDevice
        // Whoever is started in the background ignores SIGINT, and so would the program.
        signal(SIGINT, SIG_DFL)
        try process.run()
        try pipe.writer.close()
        output.startReading()
    }

    deinit {
        if process.isRunning { send(SIGKILL) }
    }

    var identifier: pid_t { process.processIdentifier }

    /// The next line that it writes; nil after its end.
    func nextLine() async -> String? {
        let identifier = identifier
        return await withTaskCancellationHandler {
            await output.nextLine()
        } onCancel: {
            // Then its end is what comes next.
            kill(identifier, SIGKILL)
        }
    }

    /// The lines that it has written so far and nobody has taken.
    func takeLines() -> [String] { output.takeLines() }

    /// The next line for which `isWanted` is true; those before it are passed over.
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
    /// - Returns: its exit status, minus the signal's number where one ended it, and all that it wrote.
    func end() async throws -> (status: Int32, output: String) {
        while await nextLine() != nil {}
        let process = process
        try await onThread { process.waitUntilExit() }
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return (status, output.text)
    }
}

/// A pipe whose ends no other program inherits that is started meanwhile: it would keep them open.
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
