// Communication with another process on this machine through a socket file (unix(7)).

internal import CLinux
internal import Glibc
package import SystemPackage

/// A stream socket in the file system.
package struct LocalSocket: ~Copyable, Sendable {
    private let descriptor: Descriptor
    private let path: FilePath

    private init(_ descriptor: consuming Descriptor, _ path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    /// The descriptor's number, for poll(2).
    package var number: CInt { descriptor.number }

    /// The most connections that can wait to be accepted; the kernel may allow fewer (net.core.somaxconn).
    private static let backlog: CInt = 128

    /// Listens at `path` for connections of this user only.
    ///
    /// Replaces an existing socket file, so the caller must hold a lock.
    ///
    /// - Throws: `FileError`, for example if the file system does not support sockets.
    package static func listen(at path: FilePath) throws(FileError) -> LocalSocket {
        _ = path.withPlatformString { unlink($0) }
        let socket = try make("listen at", path)
        // bind(2) creates the file with the permissions that the socket has at that time.
        guard fchmod(socket.number, 0o600) == 0 else { throw FileError("listen at", path, .current) }
        if let code = try call(bind, socket, at: path, "listen at") { throw FileError("listen at", path, code) }
        guard Glibc.listen(socket.number, backlog) == 0 else { throw FileError("listen at", path, .current) }
        return socket
    }

    /// Connects to the process that listens at `path`.
    ///
    /// - Parameter deadline: when to give up if the connection is not accepted; nil to wait forever.
    /// - Returns: nil if no process listens.
    /// - Throws: `FileError`, with the code `.timedOut` at the deadline.
    package static func connect(
        to path: FilePath, by deadline: ContinuousClock.Instant? = nil
    ) throws(FileError) -> LocalSocket? {
        let socket = try make("connect to", path)
        try socket.setTimeout(SO_SNDTIMEO, deadline, "connect to")
        do throws(FileError) {
            guard let code = try call(Glibc.connect, socket, at: path, "connect to") else { return socket }
            throw FileError("connect to", path, code == .wouldBlock ? .timedOut : code)
        } catch {
            guard error.code == .connectionRefused || error.code == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Accepts the next connection; blocks until there is one.
    ///
    /// - Returns: nil after `stopListening`.
    package borrowing func accept() -> LocalSocket? {
        let listener = number
        while true {
            let accepted = retryingInterrupts { clinux_accept(listener) }
            if accepted >= 0 { return LocalSocket(Descriptor(owning: accepted), path) }
            switch Errno.current {
            case .connectionAbort: continue
            // The connection stays in the queue until a descriptor or memory is available.
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noBufferSpace, .noMemory: usleep(LocalSocket.pause)
            default: return nil
            }
        }
    }

    /// Microseconds between attempts to accept a connection when descriptors or memory are short.
    private static let pause: UInt32 = 50_000

    /// A second descriptor of the same socket.
    package borrowing func duplicate() throws(FileError) -> LocalSocket {
        let copy = clinux_duplicate(number)
        if copy < 0 { throw FileError("listen at", path, .current) }
        return LocalSocket(Descriptor(owning: copy), path)
    }

    /// Ends a blocked `accept` and removes the socket file; the caller must still hold the lock.
    package borrowing func stopListening() {
        _ = path.withPlatformString { unlink($0) }
        shutdown(number, CInt(SHUT_RDWR))
    }

    /// Ends a connection: a blocked read returns, and the peer sees its end.
    package borrowing func shutDown() {
        shutdown(number, CInt(SHUT_RDWR))
    }

    /// Reads a line, up to a line feed or the end.
    ///
    /// - Parameters:
    ///   - limit: the most bytes in a line.
    ///   - deadline: when to give up; nil to wait forever.
    /// - Returns: the line without the line feed; nil if the peer closed the connection before it wrote anything.
    /// - Throws: `FileError`, with the code `.messageTooLong` beyond `limit`, or `.timedOut` at the deadline.
    package borrowing func readLine(
        limit: Int = 1 << 20, by deadline: ContinuousClock.Instant? = nil
    ) throws(FileError) -> [UInt8]? {
        var rest: [UInt8] = []
        return try readLine(after: &rest, limit: limit, by: deadline)
    }

    /// Reads the next of several lines.
    ///
    /// - Parameter rest: bytes already read after the previous line; empty at first.
    package borrowing func readLine(
        after rest: inout [UInt8], limit: Int = 1 << 20, by deadline: ContinuousClock.Instant? = nil
    ) throws(FileError) -> [UInt8]? {
        let socket = number
        let lineFeed = UInt8(ascii: "\n")
        var end = rest.firstIndex(of: lineFeed)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while end == nil, rest.count <= limit {
            try setTimeout(SO_RCVTIMEO, deadline, "read from")
            let length = buffer.withUnsafeMutableBytes { bytes in
                retryingInterrupts { read(socket, bytes.baseAddress, bytes.count) }
            }
            if length < 0 { throw failure("read from") }
            if length == 0 {
                defer { rest = [] }
                return rest.isEmpty ? nil : rest
            }
            end = buffer[..<length].firstIndex(of: lineFeed).map { rest.count + $0 }
            rest += buffer[..<length]
        }
        guard let end, end <= limit else { throw FileError("read from", path, .messageTooLong) }
        let line = Array(rest[..<end])
        rest.removeFirst(end + 1)
        return line
    }

    /// Whether the peer is still connected; does not wait.
    package var hasPeer: Bool {
        var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, 0) > 0 else { return true }
        var byte: UInt8 = 0
        return recv(number, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) != 0
    }

    /// Writes `line` and a line feed.
    ///
    /// - Parameter deadline: when to give up if the peer does not read; nil to wait forever.
    /// - Throws: `FileError`, with the code `.timedOut` at the deadline, or `.brokenPipe` if the peer is gone.
    package borrowing func writeLine(
        _ line: [UInt8], by deadline: ContinuousClock.Instant? = nil
    ) throws(FileError) {
        let socket = number
        var rest = (line + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            try setTimeout(SO_SNDTIMEO, deadline, "write to")
            let written = rest.withUnsafeBytes { bytes in
                retryingInterrupts { send(socket, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
            }
            if written < 0 { throw failure("write to") }
            rest = rest.dropFirst(written)
        }
    }

    // MARK: -

    /// Makes the next call fail at `deadline` (socket(7), SO_RCVTIMEO and SO_SNDTIMEO).
    private borrowing func setTimeout(
        _ option: CInt, _ deadline: ContinuousClock.Instant?, _ operation: String
    ) throws(FileError) {
        guard let deadline else { return }
        let (seconds, attoseconds) = (deadline - .now).components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        // Zero would mean no limit.
        if microseconds <= 0 { throw FileError(operation, path, .timedOut) }
        var time = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
        setsockopt(number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The error of a call that had a deadline, made from errno.
    private borrowing func failure(_ operation: String) -> FileError {
        let code = Errno.current
        return FileError(operation, path, code == .wouldBlock ? .timedOut : code)
    }

    private static func make(_ operation: String, _ path: FilePath) throws(FileError) -> LocalSocket {
        let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { throw FileError(operation, path, .current) }
        return LocalSocket(Descriptor(owning: number), path)
    }

    /// Calls bind(2) or connect(2) with the address of `path`.
    ///
    /// The address goes through the directory's descriptor, because an address holds at most 107 bytes.
    ///
    /// - Returns: the reason for the failure; nil on success.
    private static func call(
        _ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ socket: borrowing LocalSocket,
        at path: FilePath, _ operation: String
    ) throws(FileError) -> Errno? {
        let directory = try Descriptor.open(path.removingLastComponent(), CInt(CLINUX_O_PATH) | O_DIRECTORY)
        let name = path.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? []
        let bytes = Array("/proc/self/fd/\(directory.number)/".utf8) + name
        var address = sockaddr_un()
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw FileError(operation, path, .fileNameTooLong)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let number = socket.number
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                return retryingInterrupts { function(number, address, length) } == 0 ? nil : .current
            }
        }
    }
}
