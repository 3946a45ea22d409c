// Talking to another process of this machine through a socket that lies in a directory (unix(7)).

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

    /// Listens at `path`; a socket file that was left behind there is replaced, so the caller must hold a lock.
    ///
    /// - Throws: `FileError`, among others where the file system has no sockets.
    package static func listen(at path: FilePath) throws(FileError) -> LocalSocket {
        _ = path.withPlatformString { unlink($0) }
        let socket = try make(path)
        // Whoever may open the directory may talk: the mode of the socket file itself.
        let result = try address(of: path) { bind(socket.number, $0, $1) }
        guard result == 0, Glibc.listen(socket.number, 16) == 0 else { throw FileError("listen at", path, .current) }
        _ = path.withPlatformString { chmod($0, 0o600) }
        return socket
    }

    /// Connects to whoever listens at `path`.
    ///
    /// - Returns: nil where nobody does.
    package static func connect(to path: FilePath) throws(FileError) -> LocalSocket? {
        let socket = try make(path)
        let result: CInt
        do {
            result = try address(of: path) { Glibc.connect(socket.number, $0, $1) }
        } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            return nil
        }
        if result == 0 { return socket }
        let code = Errno.current
        if code == .connectionRefused || code == .noSuchFileOrDirectory { return nil }
        throw FileError("connect to", path, code)
    }

    /// Takes the next connection; blocks until there is one.
    ///
    /// - Returns: nil once `stopListening` was called, or where the connection is gone again.
    package borrowing func accept() -> LocalSocket? {
        let listener = number
        let accepted = retryingInterrupts { clinux_accept(listener) }
        return accepted < 0 ? nil : LocalSocket(Descriptor(owning: accepted), path)
    }

    /// A second descriptor of the same socket.
    package borrowing func duplicate() throws(FileError) -> LocalSocket {
        let copy = clinux_duplicate(number)
        if copy < 0 { throw FileError("listen at", path, .current) }
        return LocalSocket(Descriptor(owning: copy), path)
    }

    /// Ends the wait of whoever accepts.
    package borrowing func stopListening() {
        shutdown(number, CInt(SHUT_RDWR))
    }

    /// Makes reading and writing fail after `limit` without progress.
    package borrowing func setTimeout(_ limit: Duration) {
        let (seconds, attoseconds) = limit.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Reads up to a line feed or the end.
    ///
    /// - Returns: the line without the line feed; nil where the other side closed before it wrote anything.
    package borrowing func readLine(limit: Int = 1 << 20) throws(FileError) -> [UInt8]? {
        let socket = number
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while line.count < limit {
            let length = buffer.withUnsafeMutableBytes { bytes in
                retryingInterrupts { read(socket, bytes.baseAddress, bytes.count) }
            }
            if length < 0 { throw FileError("read from", path, .current) }
            if length == 0 { return line.isEmpty ? nil : line }
            if let end = buffer[..<length].firstIndex(of: UInt8(ascii: "\n")) { return line + buffer[..<end] }
            line += buffer[..<length]
        }
        throw FileError("read from", path, .messageTooLong)
    }

    /// Writes `line` and a line feed.
    package borrowing func writeLine(_ line: [UInt8]) throws(FileError) {
        let socket = number
        var rest = (line + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { bytes in
                retryingInterrupts { send(socket, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
            }
            if written < 0 { throw FileError("write to", path, .current) }
            rest = rest.dropFirst(written)
        }
    }

    private static func make(_ path: FilePath) throws(FileError) -> LocalSocket {
        let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { throw FileError("connect to", path, .current) }
        return LocalSocket(Descriptor(owning: number), path)
    }

    /// Calls `body` with the address of `path`, which goes through its directory's descriptor because an address has
    /// room for 107 bytes only.
    private static func address(
        of path: FilePath, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws(FileError) -> CInt {
        let directory = try Descriptor.open(path.removingLastComponent(), CInt(CLINUX_O_PATH) | O_DIRECTORY)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name =
            Array("/proc/self/fd/\(directory.number)/".utf8) + (path.lastComponent.map { Array($0.string.utf8) } ?? [])
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw FileError("connect to", path, .fileNameTooLong)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
