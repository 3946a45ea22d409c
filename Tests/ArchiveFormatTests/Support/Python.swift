// Runs Python, whose package cbor2 is an independent implementation of CBOR.

import Foundation
import TestSupport

enum Python {
    /// A Python with the package cbor2: the system's, where `make test` installs it, or the first one in the path.
    private static let interpreter: String? = ["/usr/bin/python3", "python3"].first {
        (try? run("import cbor2", by: $0, input: "")) != nil
    }

    /// Whether there is a Python with the package cbor2.
    static let hasCBOR2: Bool = interpreter != nil

    struct Failure: Error { let message: String }

    /// Runs `script` with `input` on its standard input.
    static func run(_ script: String, _ arguments: [String] = [], input: String) throws -> String {
        guard let interpreter else { throw Failure(message: "there is no Python with cbor2") }
        return try run(script, by: interpreter, arguments, input: input)
    }

    /// Runs `script` with `input` on its standard input; uses files so that neither side waits for the other.
    private static func run(
        _ script: String, by interpreter: String, _ arguments: [String] = [], input: String
    ) throws -> String {
        let scratch = try TemporaryDirectory()
        defer { withExtendedLifetime(scratch) {} }
        let files = ["in", "out", "err"].map { scratch.url.appending(path: $0) }
        try Data(input.utf8).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [interpreter, "-c", script] + arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(message: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
        }
        return String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
    }
}
