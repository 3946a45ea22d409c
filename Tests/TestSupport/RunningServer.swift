// Servers of S3 by others, which `make test-servers` starts: Tests/ObjectServers/s3_servers.sh.

import FileIO
import Foundation
import SystemPackage

/// A running server of S3 that is not of this project.
package struct RunningServer: Sendable, CustomStringConvertible {
    /// What the server makes of a PUT that must not replace an object.
    package enum Conditions: Sendable {
        case obeyed
        /// The object is replaced.
        case ignored
        /// The PUT is refused.
        case refused
    }

    package let name: String
    package let endpoint: String
    private let key: String
    private let secret: String
    private let directory: String

    /// The servers that run; none unless S3_SERVERS names their directory.
    package static let all: [RunningServer] = {
        guard let directory = ProcessInfo.processInfo.environment["S3_SERVERS"],
            let text = try? String(contentsOfFile: directory + "/servers", encoding: .utf8)
        else {
            return []
        }
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 4 else { return nil }
            return RunningServer(
                name: words[0], endpoint: words[1], key: words[2], secret: words[3], directory: directory)
        }
    }()

    package var description: String { name }

    package var conditions: Conditions {
        switch name {
        case "rclone": .ignored
        case "swift": .refused
        default: .obeyed
        }
    }

    /// Whether the server checks signatures.
    package var checksSignatures: Bool { name != "moto" }

    /// Whether the server compares the bytes that it gets with the hash that was signed.
    package var checksBytes: Bool { name == "swift" }

    /// Whether the objects are still there after the server was killed.
    package var isDurable: Bool { name != "moto" }

    package var keys: [String: String] {
        ["AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret]
    }

    /// Makes an empty bucket.
    ///
    /// - Returns: its name.
    package func makeBucket() throws -> String {
        let bucket = "test-\(UInt64.random(in: 0 ... .max))"
        try run("bucket", name, bucket)
        return bucket
    }

    package func kill() throws { try run("stop", name) }
    package func start() throws { try run("start", name) }

    private func run(_ words: String...) throws {
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent()
            .appending("ObjectServers/s3_servers.sh")
        let outcome = try ChildProcess.run([script.string, directory] + words)
        guard outcome.status == 0 else {
            throw ChildProcess.Failure(description: "\(words): \(outcome.text)\(outcome.errorText)")
        }
    }
}
