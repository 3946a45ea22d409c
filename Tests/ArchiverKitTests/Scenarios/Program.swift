// Programs run by tests of watching: started, listened to, signalled, awaited.

import Foundation
import Glibc
import Synchronization
import SystemPackage

/// A running program whose output is read line by line; killed where it is let go of before its end.
final class Program {
    private let process = Process()
    private let reader: Task<Void, Never>
    private var lines: AsyncStream<String>.AsyncIterator
    /// What it has written so far, for failure messages.
    private let written = Mutex("")

    /// The program ended where something else was awaited.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    /// The built program `name`, which lies beside the test bundle.
    static func built(_ name: String) -> String {
        let own = realpath("/proc/self/exe", nil)
        defer { free(own) }
        return own.map { FilePath(platformString: $0).removingLastComponent().appending(name).string } ?? name
    }

    init(_ words: [String], environment: [String: String] = [:]) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        let (stream, continuation) = AsyncStream<String>.makeStream()
        lines = stream.makeAsyncIterator()
        try process.run()
        let descriptor = output.fileHandleForReading
        reader = Task.detached {
            await Program.read(descriptor, continuation)
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private static func read(_ file: FileHandle, _ lines: AsyncStream<String>.Continuation) async {
        _ = try? await onThread {
            var rest = Data()
            while true {
                let piece = file.availableData
                if piece.isEmpty { break }
                rest += piece
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    lines.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            lines.finish()
        }
    }

    /// The next line for which `isWanted` is true; those before it are passed over.
    @discardableResult
    func line(where isWanted: (String) -> Bool) async throws -> String {
        while let line = await lines.next(isolation: #isolation) {
            written.withLock { $0 += line + "\n" }
            if isWanted(line) { return line }
        }
        throw Ended(description: "ended too early, after: \(written.withLock { String($0.suffix(2_000)) })")
    }

    func send(_ signal: CInt) { kill(process.processIdentifier, signal) }

    /// Waits for the program's end.
    ///
    /// - Returns: its exit status, minus the signal's number where one ended it, and all that it wrote.
    func end() async throws -> (status: Int32, output: String) {
        while let line = await lines.next(isolation: #isolation) { written.withLock { $0 += line + "\n" } }
        let process = process
        try await onThread { process.waitUntilExit() }
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return (status, written.withLock { $0 })
    }
}
