// A service manager's socket for tests.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Receives datagrams at a path, or at `@` and an abstract name.
package final class DatagramReceiver {
    private let socket: Descriptor

    package struct Failure: Error {}

    package init(_ name: String) throws {
        let number = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { throw Failure() }
        socket = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8) + [0]
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
        }
        if result != 0 { throw Failure() }
    }

    /// Waits for the next datagram.
    ///
    /// - Throws: if none comes within a minute.
    package func next() throws -> String {
        var request = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, 60_000) > 0 else { throw Failure() }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket.number, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// The datagrams up to the first for which `isWanted` is true.
    package func upTo(_ isWanted: (String) -> Bool) throws -> [String] {
        var all: [String] = []
        while true {
            all.append(try next())
            if let last = all.last, isWanted(last) { return all }
        }
    }
}
