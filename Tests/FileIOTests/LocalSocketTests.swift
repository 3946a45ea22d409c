// Sockets in a directory: both sides, limits of time and length, and what is in the way.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.timeLimit(.minutes(60)), .blocking) struct LocalSocketTests {
    private let directory: OpenDirectory
    private var path: FilePath { directory.path.appending("socket") }

    /// A moment that has passed before anything can happen.
    private static var past: ContinuousClock.Instant { .now - .seconds(1) }
    /// A moment to be waited for.
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

    /// Returns once nobody listens.
    ///
    /// That is at once, unless another test is just starting a process, which has a copy of the listener until it executes its
    /// program. A connection made meanwhile ends then.
    private func waitUntilNobodyListens() throws {
        while let early = try SocketBox.connect(to: path) {
            _ = try? early.socket.readLine()
        }
    }

    private func code(_ body: () throws -> Void) -> Errno? {
        (#expect(throws: FileError.self) { try body() })?.code
    }

    // MARK: Both sides

    @Test func linesGoBothWays() async throws {
        let ends = try connected()
        // More than a socket holds at once.
        let line = [UInt8](repeating: 0x61, count: 900_000)
        async let question = onThread { try ends.server.socket.readLine() }
        try ends.client.socket.writeLine(line)
        #expect(try await question == line)
        try ends.server.socket.writeLine([])
        #expect(try ends.client.socket.readLine() == [])
    }

    @Test func theEndIsToldFromALine() throws {
        let ends = try connected()
        write(ends.client.socket.number, "half", 4)
        shutdown(ends.client.socket.number, CInt(SHUT_WR))
        #expect(try ends.server.socket.readLine() == Array("half".utf8))
        #expect(try ends.server.socket.readLine() == nil)
    }

    @Test func nobodyListens() throws {
        #expect(try SocketBox.connect(to: path) == nil)
        #expect(try SocketBox.connect(to: directory.path.appending("no").appending("socket")) == nil)
    }

    /// A listener that was killed leaves its file.
    @Test func aFileLeftBehindMeansNothingAndIsReplaced() throws {
        do { _ = try SocketBox.listen(at: path) }
        #expect(try directory.names() == ["socket"])
        try waitUntilNobodyListens()
        let ends = try connected()
        try ends.client.socket.writeLine([1])
        #expect(try ends.server.socket.readLine() == [1])
    }

    @Test func onlyTheUserMayConnect() throws {
        let listener = try SocketBox.listen(at: path)
        #expect(try directory.status(CName("socket"))?.permissions == 0o600)
        withExtendedLifetime(listener) {}
    }

    @Test func whoAcceptsIsToldOfTheEnd() async throws {
        let listener = try SocketBox.listen(at: path)
        let other = SocketBox(try listener.socket.duplicate())
        async let accepted = onThread { other.accept() == nil }
        listener.socket.stopListening()
        #expect(try await accepted)
        #expect(try directory.names() == [])
    }

    // MARK: Paths

    /// An address has room for 107 bytes.
    @Test func aDirectorysPathMayBeLong() throws {
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

    @Test func aNameThatIsTooLongIsRefused() throws {
        let long = directory.path.appending(String(repeating: "s", count: 107))
        #expect(code { _ = try SocketBox.listen(at: long) } == .fileNameTooLong)
        #expect(code { _ = try SocketBox.connect(to: long) } == .fileNameTooLong)
    }

    @Test func namesAreBytes() throws {
        let name = FilePath(bytes: directory.path.bytes + [UInt8(ascii: "/"), 0xFF, 0x0A])
        let listener = try SocketBox.listen(at: name)
        #expect(try directory.status(CName([0xFF, 0x0A]))?.kind == .socket)
        withExtendedLifetime(listener) {}
    }

    @Test func whereTheFileSystemHasNoSocketsListeningFails() {
        #expect(throws: FileError.self) { _ = try SocketBox.listen(at: "/proc/archiver-test.socket") }
    }

    @Test func aDirectoryInTheWayIsKept() throws {
        #expect(mkdir(path.string, 0o700) == 0)
        #expect(code { _ = try SocketBox.listen(at: path) } == .addressInUse)
        #expect(try directory.names() == ["socket"])
    }

    // MARK: Limits

    @Test func aReaderGivesUp() throws {
        let ends = try connected()
        #expect(code { _ = try ends.server.socket.readLine(by: Self.soon) } == .timedOut)
        try ends.client.socket.writeLine([1])
        #expect(code { _ = try ends.server.socket.readLine(by: Self.past) } == .timedOut)
        #expect(try ends.server.socket.readLine() == [1])
    }

    /// The limit is one for the whole line, however many pieces it comes in.
    @Test func aWriterThatNeverEndsItsLineIsGivenUp() async throws {
        let ends = try connected()
        async let writer = onThread { while send(ends.client.socket.number, "x", 1, CInt(MSG_NOSIGNAL)) == 1 {} }
        #expect(code { _ = try ends.server.socket.readLine(limit: .max, by: Self.soon) } == .timedOut)
        shutdown(ends.server.socket.number, CInt(SHUT_RDWR))
        try await writer
    }

    @Test func aWriterGivesUp() throws {
        let ends = try connected()
        let line = [UInt8](repeating: 0x61, count: 4 << 20)
        #expect(code { try ends.server.socket.writeLine(line, by: Self.soon) } == .timedOut)
    }

    @Test func aWriterIsToldThatNobodyIsThere() throws {
        let ends = try connected()
        shutdown(ends.client.socket.number, CInt(SHUT_RDWR))
        #expect(code { try ends.server.socket.writeLine([1]) } == .brokenPipe)
    }

    /// The kernel's queue of connections is full where the listener accepts none.
    @Test func aClientThatIsNotAcceptedGivesUp() throws {
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

    @Test(arguments: [0, 1, 5000])
    func aLineMayBeAsLongAsTheLimit(limit: Int) throws {
        let line = [UInt8](repeating: 0x61, count: limit)
        let ends = try connected()
        try ends.client.socket.writeLine(line)
        #expect(try ends.server.socket.readLine(limit: limit) == line)
        let others = try connected()
        try others.client.socket.writeLine(line + [0x61])
        #expect(code { _ = try others.server.socket.readLine(limit: limit) } == .messageTooLong)
    }
}

/// A socket in a value that can be passed around.
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
