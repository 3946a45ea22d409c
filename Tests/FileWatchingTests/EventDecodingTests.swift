// Decoding of events from bytes, which are laid out by hand as in inotify(7) and fanotify(7).

import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct InotifyEventTests {
    /// wd 7, IN_CREATE | IN_ISDIR, cookie 0, "ab" padded to 16 bytes; then an overflow without a name.
    private static let bytes: [UInt8] =
        [7, 0, 0, 0, 0x00, 0x01, 0, 0x40, 0, 0, 0, 0, 16, 0, 0, 0, 0x61, 0x62] + [UInt8](repeating: 0, count: 14)
        + [0xff, 0xff, 0xff, 0xff, 0x00, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    @Test("events are decoded in order")
    func order() {
        #expect(
            Self.decode(Self.bytes) == [
                DirectoryEvent(watch: WatchID(7), mask: [.create, .isDirectory], name: Array("ab".utf8)),
                DirectoryEvent(watch: .none, mask: .overflow),
            ])
    }

    @Test("an incomplete event at the end is skipped")
    func truncated() {
        for length in 32..<Self.bytes.count { #expect(Self.decode(Array(Self.bytes[..<length])).count == 1) }
        for length in 0..<32 { #expect(Self.decode(Array(Self.bytes[..<length])).isEmpty) }
    }

    private static func decode(_ bytes: [UInt8]) -> [DirectoryEvent] {
        var events = [DirectoryEvent]()
        bytes.withUnsafeBytes { buffer in Inotify.decode(buffer) { events.append($0) } }
        return events
    }
}

@Suite(.blocking) struct FanotifyEventTests {
    private static let identity: [UInt8] =
        [1, 2, 3, 4, 5, 6, 7, 8] + [8, 0, 0, 0] + [1, 0, 0, 0] + [0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 0x10, 0x11]

    /// One event: metadata, and an information record of `type` if there is a `name`.
    private static func event(_ mask: [UInt8], type: UInt8 = 2, name: String? = nil) -> [UInt8] {
        var info = [UInt8]()
        if let name {
            info = identity + Array(name.utf8) + [0]
            info += [UInt8](repeating: 0, count: (4 - info.count % 4) % 4)
            info = [type, 0, UInt8(info.count + 4), 0] + info
        }
        let length = UInt8(24 + info.count)
        return [length, 0, 0, 0, 3, 0, 24, 0] + mask + [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0] + info
    }

    private static let bytes =
        event([0x0c, 0x01, 0, 0, 0, 0, 0, 0], name: "ab") + event([0, 4, 0, 0x40, 0, 0, 0, 0], name: ".")
        + event([0, 0x40, 0, 0, 0, 0, 0, 0])

    @Test("events are decoded in order")
    func order() {
        let directory = FileHandle(Self.identity)
        #expect(
            Self.decode(Self.bytes) == [
                FanotifyEvent(
                    mask: [.create, .attributes, .closeWrite], directory: directory, name: Array("ab".utf8)),
                FanotifyEvent(mask: [.deleteSelf, .isDirectory], directory: directory, name: []),
                FanotifyEvent(mask: .overflow, directory: nil, name: []),
            ])
    }

    @Test("information records of other types are skipped")
    func otherRecords() {
        let bytes = Self.event([2, 0, 0, 0, 0, 0, 0, 0], type: 4, name: "ab")
        #expect(Self.decode(bytes) == [FanotifyEvent(mask: .modify, directory: nil, name: [])])
    }

    @Test("an incomplete event at the end is skipped")
    func truncated() {
        let whole = Self.decode(Self.bytes)
        for length in 0..<Self.bytes.count {
            let decoded = Self.decode(Array(Self.bytes[..<length]))
            #expect(decoded.count < whole.count && decoded == Array(whole.prefix(decoded.count)))
        }
    }

    private static func decode(_ bytes: [UInt8]) -> [FanotifyEvent] {
        var events = [FanotifyEvent]()
        bytes.withUnsafeBytes { buffer in FanotifyEvent.decode(buffer) { events.append($0) } }
        return events
    }
}
