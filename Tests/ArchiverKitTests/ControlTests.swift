// The control socket: no client can prevent answers to the others.

import ArchiveStorage
import FileIO
import Glibc
import Roots
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit
@testable import WatchControl

@Suite(.timeLimit(.minutes(60)), .blocking) struct ControlTests {
    private let sandbox: Sandbox
    private var path: FilePath { sandbox.base.full("socket") }

    init() throws {
        sandbox = try Sandbox()
    }

    /// A server that sends the same answer to every request.
    private func server(patience: Duration = .seconds(5), answers: String = "fine") throws -> ControlServer {
        try ControlServer(at: EnclosedPath(file: path), patience: patience) { _ in
            ControlResponse(failure: Finding(answers))
        }
    }

    /// Returns the answer's text, or the error's message; nil if nobody listens.
    private func ask(patience: Duration = .seconds(1500)) async throws -> String? {
        let path = path
        return try await onThread {
            do throws(ArchiverError) {
                _ = try ControlClient.ask(ControlRequest(action: .status), about: "/root", at: path, patience: patience)
                return nil
            } catch {
                return error.message
            }
        }
    }

    private static let notUnderstood = ControlResponse.notUnderstood.failure?.message
    private static let silence = "the process that watches /root does not answer"

    // MARK: The server

    @Test("an answer reaches the client that asked")
    func answers() async throws {
        let server = try ControlServer(at: EnclosedPath(file: path)) { request in
            ControlResponse(
                audit: AuditResult(
                    time: Timestamp(seconds: 1), seconds: 0.5, entries: 7, found: request.action == .audit ? 2 : 0,
                    repaired: 1))
        }
        let path = path
        let response = try await onThread {
            try ControlClient.ask(ControlRequest(action: .audit), about: "/root", at: path, patience: .seconds(1500))
        }
        let audit = try #require(response?.audit)
        #expect(audit.entries == 7 && audit.found == 2 && audit.repaired == 1)
        #expect(response?.status == nil)
        withExtendedLifetime(server) {}
    }

    @Test("a client sees that the server has ended")
    func serverEnd() async throws {
        do {
            let server = try server()
            #expect(try await ask() == "fine")
            withExtendedLifetime(server) {}
        }
        #expect(try await ask() == nil)
        #expect(!sandbox.base.exists("socket"))
    }

    struct Hostile: CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var closes = false
        /// Whether the server answers it.
        var isAnswered = false

        var testDescription: String { name }
    }

    static let hostile: [Hostile] = [
        Hostile(name: "nothing", bytes: []),
        Hostile(name: "nothing, and closed", bytes: [], closes: true),
        Hostile(name: "half a line", bytes: Array(#"{"action":"sta"#.utf8)),
        Hostile(name: "half a line, and closed", bytes: Array(#"{"action":"sta"#.utf8), closes: true),
        Hostile(name: "an empty line", bytes: [0x0A], isAnswered: true),
        Hostile(name: "no text", bytes: [0xFF, 0x00, 0xC0, 0x0A], isAnswered: true),
        Hostile(name: "another value", bytes: Array("[1,2,3]\n".utf8), isAnswered: true),
        Hostile(name: "an unknown action", bytes: Array("{\"action\":\"explode\"}\n".utf8), isAnswered: true),
        Hostile(name: "a huge line", bytes: [UInt8](repeating: 0x61, count: 2 << 20)),
        Hostile(
            name: "a deep value", bytes: [UInt8](repeating: UInt8(ascii: "["), count: 4000) + [0x0A], isAnswered: true),
        Hostile(name: "a question, and closed", bytes: Array("{\"action\":\"status\"}\n".utf8), closes: true),
        Hostile(name: "two questions", bytes: Array("{\"action\":\"status\"}\n{\"action\":\"status\"}\n".utf8)),
    ]

    @Test("input from one client does not affect other clients", arguments: hostile)
    func hostileClient(_ hostile: Hostile) async throws {
        let server = try server()
        let client = try Client(path)
        let said: [UInt8]? = try await onThread {
            client.send(hostile.bytes)
            if hostile.closes { client.close() }
            return hostile.isAnswered ? try client.answer() : nil
        }
        if hostile.isAnswered {
            let response: ControlResponse = try ControlMessage.decode(try #require(said))
            #expect(response.failure?.message == Self.notUnderstood)
        }
        #expect(try await ask() == "fine")
        withExtendedLifetime((server, client)) {}
    }

    @Test("a hundred clients at the same time are answered")
    func manyClients() async throws {
        let server = try server()
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try await ask() } }
            for try await answer in group { #expect(answer == "fine") }
        }
        withExtendedLifetime(server) {}
    }

    @Test("a hundred silent clients do not delay others")
    func silentClients() async throws {
        // Longer than the test can take.
        let server = try server(patience: .seconds(600))
        let clients = try (0..<100).map { _ in try Client(path) }
        #expect(try await ask() == "fine")
        withExtendedLifetime((server, clients)) {}
    }

    /// More clients than the server accepts: the timeout makes room for others.
    @Test("silent clients are disconnected after a timeout")
    func silentClientTimeout() async throws {
        let server = try server(patience: .seconds(1))
        let path = path
        let clients = try await onThread { try (0..<400).map { _ in try Client(path) } }
        #expect(try await ask() == "fine")
        withExtendedLifetime((server, clients)) {}
    }

    /// An answer that takes long, such as an audit's, must not delay the others.
    @Test("a slow answer does not delay other clients")
    func slowAnswer() async throws {
        let (waiting, release) = AsyncStream.makeStream(of: Void.self)
        let server = try ControlServer(at: EnclosedPath(file: path)) { request in
            if request.action == .audit { for await _ in waiting {} }
            return ControlResponse(failure: Finding("fine"))
        }
        let client = try Client(path)
        client.send(Array("{\"action\":\"audit\"}\n".utf8))
        #expect(try await ask() == "fine")
        release.finish()
        #expect(try await onThread { try client.answer() } != nil)
        withExtendedLifetime(server) {}
    }

    @Test("a client that never reads is disconnected")
    func unreadAnswer() async throws {
        // More than a socket buffers.
        let long = String(repeating: "long ", count: 200_000)
        // The client that reads must get its answer in this time, also on a busy machine.
        let server = try server(patience: .seconds(4), answers: long)
        let clients = try (0..<200).map { _ in try Client(path) }
        for client in clients { client.send(Array("{\"action\":\"status\"}\n".utf8)) }
        #expect(try await ask() == long)
        withExtendedLifetime((server, clients)) {}
    }

    // MARK: The client

    private func listener(_ serve: @escaping @Sendable (borrowing LocalSocket) -> Void) throws -> Client {
        let listener = Client(try LocalSocket.listen(at: path))
        try DetachedThread.start(for: "a test") {
            while let connection = listener.socket.accept() { serve(connection) }
        }
        return listener
    }

    @Test(
        "an answer that is not understood is reported",
        arguments: ["", "nonsense", "{\"status\":{\"process\":1}}", "[]"])
    func unknownAnswer(answer: String) async throws {
        let listener = try listener { connection in
            _ = try? connection.readLine()
            try? connection.writeLine(Array(answer.utf8))
        }
        #expect(try await ask() == "the process that watches /root sent an answer that is not understood")
        listener.socket.stopListening()
    }

    @Test("a closed connection counts as no answer")
    func closedConnection() async throws {
        let listener = try listener { _ in }
        #expect(try await ask() == Self.silence)
        listener.socket.stopListening()
    }

    @Test("a client gives up on a watcher that accepts no connection")
    func fullQueue() async throws {
        let listener = Client(try LocalSocket.listen(at: path))
        #expect(try await ask(patience: .milliseconds(50)) == Self.silence)
        // The kernel's queue is full, so not even a connection is possible.
        let path = path
        let clients = await onThreadUntilRefused { try Client(path, by: .now + .milliseconds(50)) }
        #expect(try await ask(patience: .milliseconds(50)) == Self.silence)
        withExtendedLifetime((listener, clients)) {}
    }

    private func onThreadUntilRefused(_ connect: @escaping @Sendable () throws -> Client) async -> [Client] {
        let clients = try? await onThread {
            var clients: [Client] = []
            while let client = try? connect() { clients.append(client) }
            return clients
        }
        return clients ?? []
    }

    // MARK: A running watcher

    @Test("a running watcher survives all hostile clients")
    func hostileClients() async throws {
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let socket = RootLock.socket(of: sandbox.root.directory, in: sandbox.archive.store.layout).path
        let clients = try Self.hostile.map { hostile in
            let client = try Client(socket)
            // More bytes than fit into the buffer would block until the watcher reads.
            client.send(Array(hostile.bytes.prefix(50_000)))
            if hostile.closes { client.close() }
            return client
        }
        try sandbox.root.write("file", "x")
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        let status = try await onThread { try archive.status(of: root) }
        #expect(status.isWell, "\(status)")
        #expect(status.roots.first?.snapshotCount == 2)
        try await watcher.stop()
        withExtendedLifetime(clients) {}
        #expect(!Files("/").exists(socket), "a watcher that ends normally leaves no socket behind")
    }

    /// As on a file system without sockets.
    @Test("watching continues if no socket can be created")
    func noSocket() async throws {
        let socket = RootLock.socket(of: sandbox.root.directory, in: sandbox.archive.store.layout).path
        #expect(mkdir(socket.string, 0o700) == 0)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        #expect(watcher.names.contains("fallback"))
        try sandbox.root.write("file", "x")
        try await watcher.nextSnapshot()
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        let status = try await onThread { try archive.status(of: root) }
        #expect(status.roots.first?.isWatched == true)
        #expect(!status.isWell)
        try await watcher.stop()
    }

    /// A watcher that was killed leaves the file of its socket.
    @Test("a socket left behind by a killed watcher is replaced")
    func staleSocket() async throws {
        let socket = RootLock.socket(of: sandbox.root.directory, in: sandbox.archive.store.layout).path
        do { _ = try LocalSocket.listen(at: socket) }
        #expect(Files("/").exists(socket))
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let (archive, root) = (sandbox.archive, sandbox.root.directory)
        let status = try await onThread { try archive.status(of: root) }
        #expect(status.isWell, "\(status)")
        try await watcher.stop()
    }
}

/// One end of a connection, or a listener, in a value that can be passed around.
private final class Client: Sendable {
    let socket: LocalSocket

    init(_ socket: consuming LocalSocket) { self.socket = socket }

    convenience init(_ path: FilePath, by deadline: ContinuousClock.Instant = .now + .seconds(30)) throws {
        guard let socket = try LocalSocket.connect(to: path, by: deadline) else { throw NobodyListens() }
        self.init(socket)
    }

    private struct NobodyListens: Error {}

    /// Sends `bytes` without a line feed; stops if the connection is closed.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if sent < 0 { return }
            rest = rest.dropFirst(sent)
        }
    }

    func answer() throws -> [UInt8]? { try socket.readLine() }

    func close() { shutdown(socket.number, CInt(SHUT_RDWR)) }
}
