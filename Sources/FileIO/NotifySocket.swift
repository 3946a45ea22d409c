// Messages to the service manager: one datagram each (sd_notify(3)), without its library.

internal import CLinux
internal import Glibc
internal import SystemPackage

/// The socket of the service manager that started this process.
package struct NotifySocket: Sendable, Hashable {
    /// The address: an absolute path, or `@` and an abstract name.
    private let address: [UInt8]

    /// - Returns: nil if `address`, the value of `$NOTIFY_SOCKET`, is no address of a local socket.
    package init?(_ address: [UInt8]) {
        let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        guard let first = address.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"), address.count > 1,
            address.count < room
        else { return nil }
        self.address = address
    }

    /// Sends the assignments, such as `READY=1`, in one datagram; never waits.
    ///
    /// - Returns: whether the manager will get it.
    @discardableResult
    package func send(_ assignments: String...) -> Bool {
        let number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if number < 0 { return false }
        let socket = Descriptor(owning: number)
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a NUL, and its length counts (unix(7)).
        let name = address.first == UInt8(ascii: "@") ? [0] + address.dropFirst() : address + [0]
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count } ?? 0
        let message = Array(assignments.map { NotifySocket.line($0) }.joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                retryingInterrupts {
                    sendto(
                        socket.number, message, message.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT),
                        address, socklen_t(length))
                }
            }
        }
        return sent == message.count
    }

    /// An assignment in one line: a line feed would begin another one.
    private static func line(_ assignment: String) -> String {
        String(assignment.map { $0.isNewline ? " " : $0 })
    }
}
