// Asking the process that watches a root.

internal import ArchiveStorage
internal import FileIO
internal import SystemPackage

/// The other side of `ControlServer`.
enum ControlClient {
    /// Asks the watcher of `root`.
    ///
    /// - Parameter patience: how long it may take to answer; nil for as long as it lives.
    /// - Returns: nil where nobody listens.
    /// - Throws: `ArchiverError` where the watcher does not answer, or says that it cannot.
    static func ask(
        _ action: ControlRequest.Action, about root: FilePath, in layout: ArchiveLayout, patience: Duration?
    ) throws(ArchiverError) -> ControlResponse? {
        try facing {
            guard let socket = try LocalSocket.connect(to: RootLock.socket(of: root, in: layout)) else { return nil }
            if let patience { socket.setTimeout(patience) }
            guard let line = try answer(to: action, socket) else {
                throw ArchiverError(
                    .system, "the process that watches \(root) does not answer",
                    remedy: "look whether it is stopped or overloaded; end it and watch again", path: root)
            }
            let response: ControlResponse = try ControlMessage.decode(line)
            if let failure = response.failure {
                throw ArchiverError(.system, failure.message, remedy: failure.remedy, path: root)
            }
            return response
        }
    }

    /// - Returns: nil where none came in time.
    private static func answer(
        to action: ControlRequest.Action, _ socket: borrowing LocalSocket
    ) throws -> [UInt8]? {
        do throws(FileError) {
            try socket.writeLine(try line(action))
            return try socket.readLine()
        } catch {
            guard [.wouldBlock, .brokenPipe, .connectionReset].contains(error.code) else { throw error }
            return nil
        }
    }

    private static func line(_ action: ControlRequest.Action) throws(FileError) -> [UInt8] {
        do {
            return try ControlMessage.line(ControlRequest(action: action))
        } catch {
            throw FileError("ask", FilePath(action.rawValue), .invalidArgument)
        }
    }
}
