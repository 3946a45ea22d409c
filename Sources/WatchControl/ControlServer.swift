// The watcher's side of the control socket: answers questions about one root.

internal import Dispatch
package import FileIO
package import SystemPackage
internal import Threading

/// Listens for questions about a root until it ends.
///
/// Whoever asks may be slow, silent or confused, and there may be many: each connection has a thread of its own while it
/// is read from or written to, none while the answer is being found, and there are never more than `connectionLimit`.
/// Those beyond wait in the kernel's queue. While nobody asks there is no thread: a process may watch thousands of roots.
package final class ControlServer: Sendable {
    package typealias Answer = @Sendable (ControlRequest) async -> ControlResponse
    /// Writes to a subscriber until it is gone, on the connection's thread.
    package typealias Stream = @Sendable (ControlRequest, Connection) -> Void

    private let socket: LocalSocket
    private let connections: Locked<any DispatchSourceRead>

    /// Where connections are accepted; waits for places hold up only the server whose places are taken.
    private static let queue = DispatchQueue(label: "archiver.control", attributes: .concurrent)
    /// Connections at once: each takes a descriptor, and a thread's memory while it is silent.
    private static let connectionLimit = 128
    /// Bytes of the longest question.
    private static let questionLimit = 16 << 20

    /// Begins to answer.
    ///
    /// - Parameters:
    ///   - path: the socket's; whoever holds the root's lock may take it.
    ///   - patience: how long a question may take to come, and an answer to be taken.
    ///   - stream: called for each subscriber.
    ///   - answer: called for each other question.
    /// - Throws: `FileError` where the archive's file system has no sockets.
    package init(
        at path: FilePath, patience: Duration = .seconds(5), stream: Stream? = nil, _ answer: @escaping Answer
    ) throws(FileError) {
        socket = try LocalSocket.listen(at: path)
        // The handler must not keep the server, whose end is what ends it; the descriptor must outlive the source.
        let listener = Listener(try socket.duplicate())
        let places = Places(ControlServer.connectionLimit)
        let source = DispatchSource.makeReadSource(
            fileDescriptor: listener.socket.number, queue: ControlServer.queue)
        source.setEventHandler {
            places.acquire()
            guard let connection = listener.socket.accept() else { return places.release() }
            ControlServer.serve(Connection(connection, patience, places), stream, answer)
        }
        source.setCancelHandler { withExtendedLifetime(listener) {} }
        source.resume()
        connections = Locked(source)
    }

    deinit {
        connections.withLock { $0.cancel() }
        socket.stopListening()
    }

    /// A socket that closures can hold.
    private final class Listener: Sendable {
        let socket: LocalSocket

        init(_ socket: consuming LocalSocket) { self.socket = socket }
    }

    /// Answers in the background; where there can be no further thread, the connection ends without an answer.
    private static func serve(_ connection: Connection, _ stream: Stream?, _ answer: @escaping Answer) {
        try? DetachedThread.start(for: "a question") {
            guard let line = connection.question() else { return }
            guard let request: ControlRequest = try? ControlMessage.decode(line) else {
                return connection.respond(.notUnderstood)
            }
            if request.action == .subscribe, let stream { return stream(request, connection) }
            Task {
                let response = await answer(request)
                try? DetachedThread.start(for: "an answer") { connection.respond(response) }
            }
        }
    }

    /// Places for connections, to be taken before and given back after.
    fileprivate final class Places: Sendable {
        private let free = DispatchSemaphore(value: 0)

        init(_ count: Int) {
            // A semaphore must not end with a lower value than it began with.
            for _ in 0..<count { free.signal() }
        }

        func acquire() { free.wait() }
        func release() { free.signal() }
    }

    /// A connection that threads and tasks can hold, one after another.
    package final class Connection: Sendable {
        private let socket: LocalSocket
        private let patience: Duration
        private let places: Places

        fileprivate init(_ socket: consuming LocalSocket, _ patience: Duration, _ places: Places) {
            self.socket = socket
            self.patience = patience
            self.places = places
        }

        deinit {
            places.release()
        }

        /// - Returns: nil where none came.
        package func question() -> [UInt8]? {
            try? socket.readLine(limit: ControlServer.questionLimit, by: .now + patience)
        }

        package func respond(_ response: ControlResponse) { _ = write(response) }

        /// - Returns: whether the other side took it.
        package func write(_ message: some Encodable) -> Bool {
            guard let line = try? ControlMessage.line(message) else { return false }
            return (try? socket.writeLine(line, by: .now + patience)) != nil
        }

        package var hasPeer: Bool { socket.hasPeer }
    }
}
