// Servers of S3 that tests start.

import FileIO
import Foundation
import ObjectStore
import SystemPackage
import TestSupport

/// The server of Tests/ObjectServer, which goes wrong on demand.
final class S3Server {
    private let place: TemporaryDirectory
    private let process: ChildProcess
    private let port: String
    private let scheme: String

    /// - Parameter certificate: names of files with a certificate and its key, for TLS.
    init(certificate: (file: String, key: String)? = nil) throws {
        place = try TemporaryDirectory()
        try place.write("plan", "")
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent()
            .appending("ObjectServer/s3_server.py")
        let files = certificate.map { [$0.file, $0.key] } ?? []
        process = try ChildProcess(
            ["python3", "-B", script.string, place.path.appending("plan").string] + files)
        port = try process.line { UInt16($0) != nil }
        scheme = certificate == nil ? "http" : "https"
    }

    var endpoint: String { "\(scheme)://127.0.0.1:\(port)" }

    /// Says how the next requests go wrong.
    func plan(_ lines: String...) throws { try plan(lines) }

    func plan(_ lines: [String]) throws { try place.write("plan", lines.map { "\($0)\n" }.joined()) }

    /// The requests since the last call of this function.
    func requests() throws -> [String] {
        let log = place.url.appending(path: "plan.log")
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        try? FileManager.default.removeItem(at: log)
        return text.split(separator: "\n").map(String.init)
    }

    static let keys = ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"]

    func store(
        _ bucket: String = "bucket/desk", environment: [String: String] = keys
    ) throws -> any ObjectStore {
        try ObjectStores.open(
            StoreAddress("s3://\(bucket)?endpoint=\(endpoint)"),
            environment: ["HOME": place.path.string].merging(environment) { $1 })
    }
}
