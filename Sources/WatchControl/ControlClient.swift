// The client of a root's control socket: sends requests to its watcher.

package import ArchiveStorage
package import Exclusions
internal import FileIO
package import Roots
package import SystemPackage

/// The client of `ControlServer`.
package enum ControlClient {
    /// Sends a request to the watcher of `root`.
    ///
    /// - Parameters:
    ///   - patience: how long to wait for the answer; nil to wait as long as the watcher lives.
    ///   - isForAll: whether to ask about the other roots of the process, too.
    ///   - name: the name of a mark.
    ///   - exclusions: the exclusion rules from now on.
    /// - Returns: nil if no process listens.
    /// - Throws: `ArchiverError` if the watcher does not answer, or answers with a failure.
    package static func ask(
        _ action: ControlRequest.Action, about root: FilePath, in layout: ArchiveLayout, patience: Duration?,
        isForAll: Bool = false, name: String? = nil, exclusions: ExclusionRules? = nil
    ) throws(ArchiverError) -> ControlResponse? {
        var request = ControlRequest(action: action)
        request.isForAll = isForAll ? true : nil
        request.name = name
        request.exclusions = exclusions
        return try ask(request, about: root, at: RootLock.socket(of: root, in: layout).path, patience: patience)
    }

    /// Sends a request to the socket at `path`; nil if no process listens there.
    package static func ask(
        _ request: ControlRequest, about root: FilePath, at path: FilePath, patience: Duration?
    ) throws(ArchiverError) -> ControlResponse? {
        try facing {
            let deadline = patience.map { ContinuousClock.now + $0 }
            let line = try ControlMessage.line(request)
            guard let socket = try connect(to: path, deadline, root) else { return nil }
            guard let answer = try answer(to: line, socket, deadline) else { throw silence(root) }
            guard let response: ControlResponse = try? ControlMessage.decode(answer) else {
                throw ArchiverError(
                    .system, "the process that watches \(root) sent an answer that is not understood",
                    remedy: "end it and watch again, so that it runs this version of the program", path: root)
            }
            if let failure = response.failure {
                throw ArchiverError(.system, failure.message, remedy: failure.remedy, path: root)
            }
            return response
        }
    }

    /// Calls `body` with the news from the watcher of `root`, until it returns false or the watcher ends.
    ///
    /// - Parameter onConnect: called with a function that ends the connection, from any thread; then this returns.
    /// - Throws: `ArchiverError`, with the code `notWatched` if no process listens.
    package static func follow(
        _ root: FilePath, in layout: ArchiveLayout, after last: String?,
        onConnect: (@escaping @Sendable () -> Void) -> Void = { _ in }, _ body: (ControlNews) throws -> Bool
    ) throws {
        guard let socket = try connect(to: RootLock.socket(of: root, in: layout).path, nil, root) else {
            throw ArchiverError(.notWatched, "nobody watches \(root)", remedy: Advice.startWatching.text, path: root)
        }
        var request = ControlRequest(action: .subscribe)
        request.after = last
        let end = ConnectionEnd(try socket.duplicate())
        onConnect { end.shutDown() }
        try socket.writeLine(ControlMessage.line(request))
        var rest: [UInt8] = []
        while let line = try socket.readLine(after: &rest) {
            if let news: ControlNews = try? ControlMessage.decode(line) {
                guard try body(news) else { return }
                continue
            }
            let response: ControlResponse? = try? ControlMessage.decode(line)
            guard let failure = response?.failure else { throw silence(root) }
            throw ArchiverError(.system, failure.message, remedy: failure.remedy, path: root)
        }
    }

    /// A second descriptor of a connection, by which another thread ends it.
    private final class ConnectionEnd: Sendable {
        private let socket: LocalSocket

        init(_ socket: consuming LocalSocket) { self.socket = socket }

        func shutDown() { socket.shutDown() }
    }

    private static func connect(
        to path: FilePath, _ deadline: ContinuousClock.Instant?, _ root: FilePath
    ) throws -> LocalSocket? {
        do throws(FileError) {
            return try LocalSocket.connect(to: path, by: deadline)
        } catch {
            throw error.code == .timedOut ? silence(root) : error as any Error
        }
    }

    /// - Returns: nil if no answer came in time, or the watcher closed the connection.
    private static func answer(
        to request: [UInt8], _ socket: borrowing LocalSocket, _ deadline: ContinuousClock.Instant?
    ) throws(FileError) -> [UInt8]? {
        do {
            try socket.writeLine(request, by: deadline)
            return try socket.readLine(limit: answerLimit, by: deadline)
        } catch {
            guard [.timedOut, .brokenPipe, .connectionReset].contains(error.code) else { throw error }
            return nil
        }
    }

    /// The most bytes of an answer; a root takes about 700.
    private static let answerLimit = 64 << 20

    /// The error that the watcher of `root` does not answer.
    package static func silence(_ root: FilePath) -> ArchiverError {
        ArchiverError(
            .system, "the process that watches \(root) does not answer",
            remedy: "check whether it is stopped or overloaded; end it and watch again", path: root)
    }
}
