// Sockets in a directory: both ends, deadlines, length limits and obstacles.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.timeLimit(.minutes(60)), .blocking) struct LocalSocketTests {
    private let directory: OpenDirectory
    private var path: FilePath { directory.path.appending("socket") }

    /// A deadline that has passed already.
    private static var past: ContinuousClock.Instant { .now - .seconds(1) }
    /// A deadline in the near future.
    private static var soon: ContinuousClock.Instant { .now + .milliseconds(50) }

    init() throws {
        directory = try OpenDirectory()
    }

    /// Two ends of one connection.
    private func connected() throws -> (client: SocketBox, server: SocketBox) {
        let listener = try SocketBox.listen(at: path)
        let client = try #require(try SocketBox.connect(to: path))
        return (client, try #require(listener.accept()))
    }

    /// Waits until no process listens.
    ///
    /// If another test is starting a process, that process has a copy of the listener until exec. A connection made
    /// during that time ends then.
    private func waitUntilNobodyListens() throws {
        while let early = try SocketBox.connect(to: path) {
            _ = try? early.socket.readLine()
        }
    }

    private func code(_ body: () throws -> Void) -> Errno? {
        (#expect(throws: FileError.self) { try body() })?.code
    }

    // MARK: Both ends

    @Test("lines are sent in both directions")
    func lines() async throws {
        let ends = try connected()
        // More than fits into a socket's buffer.
        let line = [UInt8](repeating: 0x61, count: 900_000)
        async let question = onThread { try ends.server.socket.readLine() }
        try ends.client.socket.writeLine(line)
        #expect(try await question == line)
        try ends.server.socket.writeLine([])
        #expect(try ends.client.socket.readLine() == [])
    }

    @Test("the end of the connection is distinguished from an empty line")
    func end() throws {
        let ends = try connected()
        write(ends.client.socket.number, "half", 4)
        shutdown(ends.client.socket.number, CInt(SHUT_WR))
        #expect(try ends.server.socket.readLine() == Array("half".utf8))
        #expect(try ends.server.socket.readLine() == nil)
    }

    @Test("connect returns nil if no process listens")
    func noListener() throws {
        #expect(try SocketBox.connect(to: path) == nil)
        #expect(try SocketBox.connect(to: directory.path.appending("no").appending("socket")) == nil)
    }

    /// A killed listener leaves its file behind.
    @Test("a leftover socket file is ignored and replaced")
    func leftovers() throws {
        do { _ = try SocketBox.listen(at: path) }
        #expect(try directory.names() == ["socket"])
        try waitUntilNobodyListens()
        let ends = try connected()
        try ends.client.socket.writeLine([1])
        #expect(try ends.server.socket.readLine() == [1])
    }

    @Test("only the user can connect")
    func permissions() throws {
        let listener = try SocketBox.listen(at: path)
        #expect(try directory.status(CName("socket"))?.permissions == 0o600)
        withExtendedLifetime(listener) {}
    }

    @Test("stopListening ends a blocked accept")
    func stopping() async throws {
        let listener = try SocketBox.listen(at: path)
        let other = SocketBox(try listener.socket.duplicate())
        async let accepted = onThread { other.accept() == nil }
        listener.socket.stopListening()
        #expect(try await accepted)
        #expect(try directory.names() == [])
    }

    // MARK: Paths

    /// A socket address holds at most 107 bytes.
    @Test("the directory's path can be longer than a socket address")
    func longDirectory() throws {
        var deep = directory.path
        for _ in 0..<30 {
            deep.append("a-rather-long-name")
            #expect(mkdir(deep.string, 0o700) == 0)
        }
        deep.append(FilePath.Component(String(repeating: "s", count: 64)) ?? "s")
        let listener = try SocketBox.listen(at: deep)
        #expect(try SocketBox.connect(to: deep) != nil)
        #expect(listener.accept() != nil)
    }

    @Test("a socket name that is too long is an error")
    func longName() throws {
        let long = directory.path.appending(String(repeating: "s", count: 107))
        #expect(code { _ = try SocketBox.listen(at: long) } == .fileNameTooLong)
        #expect(code { _ = try SocketBox.connect(to: long) } == .fileNameTooLong)
    }

    @Test("a socket name can contain any bytes")
    func names() throws {
        let name = FilePath(bytes: directory.path.bytes + [UInt8(ascii: "/"), 0xFF, 0x0A])
        let listener = try SocketBox.listen(at: name)
        #expect(try directory.status(CName([0xFF, 0x0A]))?.kind == .socket)
        withExtendedLifetime(listener) {}
    }

    @Test("listening fails on a file system without sockets")
    func unsupported() {
        #expect(throws: FileError.self) { _ = try SocketBox.listen(at: "/proc/archiver-test.socket") }
    }

    @Test("a directory at the socket's path is an error and stays")
    func obstacles() throws {
        #expect(mkdir(path.string, 0o700) == 0)
        #expect(code { _ = try SocketBox.listen(at: path) } == .addressInUse)
        #expect(try directory.names() == ["socket"])
    }

    // MARK: Limits

    @Test("reading fails at the deadline")
    func readDeadline() throws {
        let ends = try connected()
        #expect(code { _ = try ends.server.socket.readLine(by: Self.soon) } == .timedOut)
        try ends.client.socket.writeLine([1])
        #expect(code { _ = try ends.server.socket.readLine(by: Self.past) } == .timedOut)
        #expect(try ends.server.socket.readLine() == [1])
    }

    @Test("the read deadline applies to the line, not to each of its pieces")
    func lineDeadline() async throws {
        let ends = try connected()
        async let writer = onThread { while send(ends.client.socket.number, "x", 1, CInt(MSG_NOSIGNAL)) == 1 {} }
        #expect(code { _ = try ends.server.socket.readLine(limit: .max, by: Self.soon) } == .timedOut)
        shutdown(ends.server.socket.number, CInt(SHUT_RDWR))
        try await writer
    }

    @Test("writing fails at the deadline")
    func writeDeadline() throws {
        let ends = try connected()
        let line = [UInt8](repeating: 0x61, count: 4 << 20)
        #expect(code { try ends.server.socket.writeLine(line, by: Self.soon) } == .timedOut)
    }

    @Test("writing to a closed connection fails with brokenPipe")
    func brokenPipe() throws {
        let ends = try connected()
        shutdown(ends.client.socket.number, CInt(SHUT_RDWR))
        #expect(code { try ends.server.socket.writeLine([1]) } == .brokenPipe)
    }

    /// If the listener accepts no connection, the kernel's queue of connections becomes full.
    @Test("connecting fails at the deadline if the listener accepts no connection")
    func connectDeadline() throws {
        let listener = try SocketBox.listen(at: path)
        var clients: [SocketBox] = []
        let refusal = code {
            for _ in 0..<5000 {
                clients.append(try #require(try SocketBox.connect(to: path, by: Self.soon)))
            }
        }
        #expect(refusal == .timedOut)
        #expect(clients.count > 100)
        withExtendedLifetime(listener) {}
    }

    @Test("a line can be as long as the limit and not longer", arguments: [0, 1, 5000])
    func lineLimit(limit: Int) throws {
        let line = [UInt8](repeating: 0x61, count: limit)
        let ends = try connected()
        try ends.client.socket.writeLine(line)
        #expect(try ends.server.socket.readLine(limit: limit) == line)
        let others = try connected()
        try others.client.socket.writeLine(line + [0x61])
        #expect(code { _ = try others.server.socket.readLine(limit: limit) } == .messageTooLong)
    }
}

/// A socket in a reference type, which can be passed around.
private final class SocketBox: Sendable {
    let socket: LocalSocket

    init(_ socket: consuming LocalSocket) { self.socket = socket }

    static func listen(at path: FilePath) throws(FileError) -> SocketBox { SocketBox(try LocalSocket.listen(at: path)) }

    static func connect(
        to path: FilePath, by deadline: ContinuousClock.Instant? = nil
    ) throws(FileError) -> SocketBox? {
        guard let socket = try LocalSocket.connect(to: path, by: deadline) else { return nil }
        return SocketBox(socket)
    }

    func accept() -> SocketBox? {
        guard let socket = socket.accept() else { return nil }
        return SocketBox(socket)
    }
}
