// A running server of an archive in a temporary directory, and requests to it, byte by byte.

import ArchiverKit
import Foundation
import Glibc
import Logging
import NIOCore
import SystemPackage
import TestSupport
import Testing
import Threading

@testable import TimelineServer

/// A server that runs until the object is released.
final class ServerPlace: Sendable {
    let scratch: TemporaryDirectory
    let archive: Archive
    let port: Int
    let session: String
    let ticket: String
    private let access: Access
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - past: makes the history before the server starts.
    ///   - hooks: called by each search.
    ///   - onStream: called when a stream of events has begun to read the state of the archive.
    init(
        hooks: SearchHooks = SearchHooks(), connectionLimit: Int? = nil, patience: TimeAmount = .seconds(10),
        usageLimit: Int? = nil, logger: Logger? = nil,
        past: (TemporaryDirectory, Archive) throws -> Void = { _, _ in },
        onStream: @escaping @Sendable () -> Void = {}
    ) async throws {
        let scratch = try TemporaryDirectory()
        let archive = try Archive.open(scratch.path.pushing("archive"), creating: true)
        try past(scratch, archive)
        var options = TimelineServerOptions()
        (options.searchHooks, options.onStream) = (hooks, onStream)
        (options.connectionLimit, options.patience) = (connectionLimit, patience)
        if let usageLimit { options.usageLimit = usageLimit }
        if let logger { options.logger = logger }
        let (urls, sender) = AsyncStream<String>.makeStream()
        let server = TimelineServer(archive, options)
        access = server.access
        task = Task {
            // A server that cannot start sends no address.
            try? await server.run { sender.yield($0()) }
            sender.finish()
        }
        var iterator = urls.makeAsyncIterator()
        let url = try #require(await iterator.next().flatMap { URLComponents(string: $0) })
        port = try #require(url.port)
        let token = try #require(url.fragment?.split(separator: "=").last)
        (self.scratch, self.archive) = (scratch, archive)
        let answer = try ServerPlace.answer(
            port, "POST", "/api/1/session", ServerPlace.own(port), #"{"token": "\#(token)"}"#)
        struct Opened: Decodable {
            let session: String
            let ticket: String
        }
        let opened = try JSONDecoder().decode(Opened.self, from: answer.body)
        (session, ticket) = (opened.session, opened.ticket)
    }

    deinit { task.cancel() }

    /// Opens another session.
    func newSession() throws -> String { try #require(access.session(for: access.newToken())) }

    /// The response to a request.
    struct Answer {
        let status: Int
        let body: Data

        init(_ bytes: [UInt8]) throws {
            let head = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
            let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
            status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
            let rest = bytes[head.upperBound...]
            let isChunked = lines.contains { $0.lowercased() == "transfer-encoding: chunked" }
            body = Data(isChunked ? Answer.joined(rest) : Array(rest))
        }

        private static func joined(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var (rest, found): (ArraySlice<UInt8>, [UInt8]) = (bytes, [])
            while let end = rest.firstRange(of: Array("\r\n".utf8)),
                let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16), size > 0
            {
                found += rest[end.upperBound...].prefix(size)
                rest = rest[end.upperBound...].dropFirst(size + 2)
            }
            return found
        }
    }

    /// The headers of the server's own page.
    static func own(_ port: Int) -> [String: String] {
        ["Host": "127.0.0.1:\(port)", "Origin": "http://127.0.0.1:\(port)", "Content-Type": "application/json"]
    }

    var headers: [String: String] {
        ServerPlace.own(port).merging(["X-Archiver-Session": session]) { $1 }
    }

    /// Returns the value that the server answers with, as JSON.
    func get<Value: Decodable>(_ type: Value.Type, _ target: String) throws -> Value {
        let answer = try ServerPlace.answer(port, "GET", "/api/1/\(target)", headers)
        try #require(answer.status == 200, "\(target): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDecoder().decode(type, from: answer.body)
    }

    func post<Value: Decodable>(_ type: Value.Type, _ target: String, _ body: [String: Any]) throws -> Value {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let answer = try ServerPlace.answer(port, "POST", "/api/1/\(target)", headers, text)
        try #require(answer.status == 200, "\(target): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDecoder().decode(type, from: answer.body)
    }

    static func answer(
        _ port: Int, _ method: String, _ target: String, _ headers: [String: String], _ body: String = ""
    ) throws -> Answer {
        try Answer(Connection(port, method, target, headers, body).rest())
    }

    func connection(_ target: String) throws -> Connection {
        try Connection(port, "GET", "/api/1/\(target)", headers, "")
    }
}

/// A connection to the server.
final class Connection {
    private let socket: Int32

    /// Sends a request.
    convenience init(
        _ port: Int, _ method: String, _ target: String, _ headers: [String: String], _ body: String
    ) throws {
        try self.init(port)
        // A header may be given twice, by names that differ in case.
        var text = "\(method) \(target) HTTP/1.1\r\nConnection: close\r\n"
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { text += "\(name): \(value)\r\n" }
        if method != "GET" { text += "Content-Length: \(body.utf8.count)\r\n" }
        try send(text + "\r\n" + body)
    }

    init(_ port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
        // An answer that never comes is an error, not a test that never ends.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
            throw Errno(rawValue: errno)
        }
    }

    /// Returns the next bytes; an empty array at the end.
    func next() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(socket, &bytes, bytes.count)
        // The server may close a connection whose request it has not read.
        if count < 0, errno == ECONNRESET { return [] }
        guard count >= 0 else { throw Errno(rawValue: errno) }
        return Array(bytes.prefix(count))
    }

    func rest() throws -> [UInt8] {
        var found: [UInt8] = []
        while case let bytes = try next(), !bytes.isEmpty { found += bytes }
        return found
    }

    /// Reads until the answer has this text, and returns what was read.
    @discardableResult
    func wait(for text: String) throws -> String {
        var found = ""
        while !found.contains(text) {
            let bytes = try next()
            try #require(!bytes.isEmpty, "the answer has no \(text): \(found)")
            found += String(decoding: bytes, as: UTF8.self)
        }
        return found
    }
}
