// Messages to a service manager, received by a real socket.

import FileIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite struct NotifySocketTests {
    /// Receives one datagram that `send` sends to a socket at `name`, a path or `@` and an abstract name.
    private func received(at name: String, _ send: (NotifySocket) -> Bool) throws -> String {
        let receiver = try DatagramReceiver(name)
        #expect(send(try #require(NotifySocket(Array(name.utf8)))))
        return try receiver.next()
    }

    @Test("a message is one datagram, to a path and to an abstract name")
    func send() throws {
        let place = try TemporaryDirectory()
        for name in [
            place.path.pushing(FilePath("notify")).string,
            "@archiver-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))",
        ] {
            #expect(
                try received(at: name) { $0.send("READY=1", "STATUS=2 roots watched") }
                    == "READY=1\nSTATUS=2 roots watched")
        }
    }

    @Test("a line feed in a status begins no other assignment")
    func lineFeed() throws {
        let place = try TemporaryDirectory()
        #expect(
            try received(at: place.path.pushing(FilePath("notify")).string) { $0.send("STATUS=a\nWATCHDOG=1") }
                == "STATUS=a WATCHDOG=1")
    }

    @Test("a wrong address is none, and a message to nobody is not sent")
    func wrong() throws {
        for address in ["", "@", "/", "relative", "vsock:2:3", "/" + String(repeating: "x", count: 200)] {
            #expect(NotifySocket(Array(address.utf8)) == nil, "\(address)")
        }
        let place = try TemporaryDirectory()
        #expect(
            try #require(NotifySocket(Array(place.path.pushing(FilePath("none")).string.utf8))).send("READY=1") == false
        )
    }
}
