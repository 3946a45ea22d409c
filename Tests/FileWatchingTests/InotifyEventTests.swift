// Events as bytes, laid out by hand after inotify(7).

import Testing

@testable import FileWatching

@Suite struct InotifyEventTests {
    /// wd 7, IN_CREATE | IN_ISDIR, cookie 0, "ab" padded to 16 bytes; then an overflow without a name.
    private static let bytes: [UInt8] =
        [7, 0, 0, 0, 0x00, 0x01, 0, 0x40, 0, 0, 0, 0, 16, 0, 0, 0, 0x61, 0x62] + [UInt8](repeating: 0, count: 14)
        + [0xff, 0xff, 0xff, 0xff, 0x00, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    @Test func eventsAreDecodedInOrder() {
        #expect(
            Self.decode(Self.bytes) == [
                InotifyEvent(watch: 7, mask: [.create, .isDirectory], name: Array("ab".utf8)),
                InotifyEvent(watch: -1, mask: .overflow),
            ])
    }

    @Test func aTornTailIsLeftOut() {
        for length in 32..<Self.bytes.count { #expect(Self.decode(Array(Self.bytes[..<length])).count == 1) }
        for length in 0..<32 { #expect(Self.decode(Array(Self.bytes[..<length])).isEmpty) }
    }

    private static func decode(_ bytes: [UInt8]) -> [InotifyEvent] {
        var events = [InotifyEvent]()
        bytes.withUnsafeBytes { buffer in InotifyEvent.decode(buffer) { events.append($0) } }
        return events
    }
}
