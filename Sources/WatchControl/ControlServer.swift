// The server of a root's control socket.

internal import Dispatch
package import FileIO
internal import Threading

/// Listens for requests about a root until it is deallocated.
///
/// Clients may be slow, silent or faulty, and there may be many. Each connection has a thread of its own while it is
/// read or written, and none while the answer is computed. At most `connectionLimit` connections are open; further ones
/// wait in the kernel's queue. Without connections there is no thread: a process may watch thousands of roots.
package final class ControlServer: Sendable {
    package typealias Answer = @Sendable (ControlRequest) async -> ControlResponse
    /// Writes to a subscriber until it disconnects, on the connection's thread.
    package typealias Stream = @Sendable (ControlRequest, Connection) -> Void

    private let socket: LocalSocket
    private let connections: Locked<any DispatchSourceRead>

    /// The queue on which connections are accepted; waiting for a place blocks only the server that is full.
    private static let queue = DispatchQueue(label: "archiver.control", qos: .default, attributes: .concurrent)
    /// The most connections: each takes a descriptor, and a thread's memory while it is silent.
    private static let connectionLimit = 128
    /// The most bytes of a request.
    private static let requestLimit = 16 << 20

    /// Starts to listen and answer.
    ///
    /// - Parameters:
    ///   - path: the socket's path; the caller must hold the root's lock.
    ///   - patience: how long to wait for a request to arrive, and for an answer to be read.
    ///   - stream: called for each subscriber.
    ///   - answer: called for each other request.
    /// - Throws: `FileError` if the archive's file system does not support sockets.
    package init(
        at path: EnclosedPath, patience: Duration = .seconds(5), stream: Stream? = nil, _ answer: @escaping Answer
    ) throws(FileError) {
        socket = try LocalSocket.listen(at: path.path)
        path.passOn()
        // The handler must not hold the server, whose deinit cancels it; the descriptor must outlive the source.
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

    /// Answers in the background; if no thread can be started, the connection is closed without an answer.
    private static func serve(_ connection: Connection, _ stream: Stream?, _ answer: @escaping Answer) {
        try? DetachedThread.start(for: "reading a request") {
            guard let line = connection.request() else { return }
            guard let request: ControlRequest = try? ControlMessage.decode(line) else {
                return connection.respond(.notUnderstood)
            }
            if request.action == .subscribe, let stream { return stream(request, connection) }
            Task {
                let response = await answer(request)
                try? DetachedThread.start(for: "writing an answer") { connection.respond(response) }
            }
        }
    }

    /// A semaphore that limits the number of connections.
    fileprivate final class Places: Sendable {
        private let free = DispatchSemaphore(value: 0)

        init(_ count: Int) {
            // A dispatch semaphore must not be deallocated with a lower value than its initial one.
            for _ in 0..<count { free.signal() }
        }

        func acquire() { free.wait() }
        func release() { free.signal() }
    }

    /// A connection that threads and tasks pass on to one another.
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

        /// - Returns: nil if no request came.
        package func request() -> [UInt8]? {
            try? socket.readLine(limit: ControlServer.requestLimit, by: .now + patience)
        }

        package func respond(_ response: ControlResponse) { _ = write(response) }

        /// - Returns: whether the client read it in time.
        package func write(_ message: some Encodable) -> Bool {
            guard let line = try? ControlMessage.line(message) else { return false }
            return (try? socket.writeLine(line, by: .now + patience)) != nil
        }

        package var hasPeer: Bool { socket.hasPeer }
    }
}
