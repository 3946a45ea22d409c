// A server of S3 that tests start.

import Foundation
import SystemPackage

/// The server of Tests/ObjectServers, which goes wrong on demand.
package final class S3Server {
    private let place: TemporaryDirectory
    private let process: ChildProcess
    private let port: String
    private let scheme: String

    /// - Parameter certificate: names of files with a certificate and its key, for TLS.
    package init(certificate: (file: String, key: String)? = nil) throws {
        place = try TemporaryDirectory()
        try place.write("plan", "")
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent()
            .appending("ObjectServers/s3_server.py")
        let files = certificate.map { [$0.file, $0.key] } ?? []
        process = try ChildProcess(
            ["python3", "-B", script.string, place.path.appending("plan").string] + files)
        port = try process.line { UInt16($0) != nil }
        scheme = certificate == nil ? "http" : "https"
    }

    package var endpoint: String { "\(scheme)://127.0.0.1:\(port)" }

    /// A directory without the files of a user.
    package var home: String { place.path.string }

    /// Says how the next requests go wrong.
    package func plan(_ lines: String...) throws { try plan(lines) }

    package func plan(_ lines: [String]) throws { try place.write("plan", lines.map { "\($0)\n" }.joined()) }

    /// The requests since the last call of this function.
    package func requests() throws -> [String] {
        let log = place.url.appending(path: "plan.log")
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        try? FileManager.default.removeItem(at: log)
        return text.split(separator: "\n").map(String.init)
    }

    package static let keys = ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"]
}
