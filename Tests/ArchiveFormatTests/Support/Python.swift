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

    private static func run(
        _ script: String, by interpreter: String, _ arguments: [String] = [], input: String
    ) throws -> String {
        let outcome = try ChildProcess.run([interpreter, "-c", script] + arguments, input: Array(input.utf8))
        guard outcome.status == 0 else { throw Failure(message: outcome.errorText) }
        return outcome.text
    }
}
