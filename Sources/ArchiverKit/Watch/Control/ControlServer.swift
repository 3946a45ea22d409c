// The watcher's side of the control socket: answers questions about one root.

internal import FileIO
internal import SystemPackage

/// Listens for questions about a root until it ends.
final class ControlServer: Sendable {
    private let socket: LocalSocket

    /// A client that says nothing for this long is left alone.
    private static let patience = Duration.seconds(5)

    /// Begins to answer.
    ///
    /// - Parameters:
    ///   - path: the socket's; whoever holds the root's lock may take it.
    ///   - answer: called for each question.
    /// - Throws: `FileError` where the archive's file system has no sockets.
    init(
        at path: FilePath, _ answer: @escaping @Sendable (ControlRequest) async -> ControlResponse
    ) throws(FileError) {
        socket = try LocalSocket.listen(at: path)
        // The thread must not keep the server: its end is what ends the thread.
        let listener = try socket.duplicate()
        try DetachedThread.start(for: "the control socket") {
            while let connection = listener.accept() { ControlServer.serve(connection, answer) }
        }
    }

    deinit {
        socket.stopListening()
    }

    private static func serve(
        _ connection: consuming LocalSocket, _ answer: @escaping @Sendable (ControlRequest) async -> ControlResponse
    ) {
        connection.setTimeout(patience)
        let client = Client(connection)
        Task {
            guard let request = try? await client.request() else { return }
            let response = await answer(request)
            try? await client.respond(response)
        }
    }

    /// A connection that a task can hold.
    private final class Client: Sendable {
        private let connection: LocalSocket

        init(_ connection: consuming LocalSocket) {
            self.connection = connection
        }

        func request() async throws(ArchiverError) -> ControlRequest? {
            try await Blocking.run { [self] () throws(ArchiverError) in
                try facing {
                    guard let line = try connection.readLine() else { return nil }
                    return try ControlMessage.decode(line)
                }
            }
        }

        func respond(_ response: ControlResponse) async throws(ArchiverError) {
            try await Blocking.run { [self] () throws(ArchiverError) in
                try facing { try connection.writeLine(try ControlMessage.line(response)) }
            }
        }
    }
}
