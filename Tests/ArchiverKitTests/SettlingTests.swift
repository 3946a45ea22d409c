// How long a file's change time may hide another change.

import ArchiveFormat
import FileIO
import Roots
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Capturing

@Suite("Settled times", .blocking)
struct SettlingTests {
    private static let second: Int64 = 1_000_000_000

    @Test(
        "a time without nanoseconds is from a coarse clock, and settles only after two seconds",
        arguments: [
            (Timestamp(seconds: 10), Int64(30_000_000), false), (Timestamp(seconds: 10), 1_990_000_000, false),
            (Timestamp(seconds: 10), 2_030_000_000, true), (Timestamp(seconds: 10, nanoseconds: 1), 10_000_000, false),
            (Timestamp(seconds: 10, nanoseconds: 1), 30_000_000, true), (Timestamp(seconds: 10), -1_000_000_000, false),
        ])
    func settled(_ changed: Timestamp, later: Int64, isSettled: Bool) {
        let now = changed.advanced(byNanoseconds: later)
        #expect(Settling.isSettled(changed, at: now, isOurClock: true) == isSettled)
        let wait = Settling.wait(for: changed, at: now, isOurClock: true)
        #expect((wait == 0) == isSettled && wait <= 4_040_000_001)
        #expect(Settling.isSettled(changed, at: now.advanced(byNanoseconds: wait + 1), isOurClock: true))
    }

    @Test("a change time in the future needs no waiting, and proves nothing if another machine's clock set it")
    func future() {
        let changed = Timestamp(seconds: 86_400, nanoseconds: 1)
        let now = Timestamp(seconds: 0)
        for isOurClock in [true, false] {
            #expect(Settling.wait(for: changed, at: now, isOurClock: isOurClock) == 0)
            #expect(Settling.isSettled(changed, at: now, isOurClock: isOurClock) == isOurClock)
        }
    }

    @Test("link groups distinguish file systems that use the same inode numbers")
    func groups() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("f", "1")
        let root = try RootDirectory.open(sandbox.root.directory)
        let status = try #require(try FileStatus.read(CName("f".utf8), in: root.directory.descriptor))
        #expect(status.linkGroup(besides: status.device) == status.inode)
        let groups = (1...100).map { status.linkGroup(besides: status.device + $0) }
        // All groups are of this file system, seen from roots on other file systems.
        #expect(Set(groups).count == 1 && groups[0] >= 1 << 63)
    }
}
