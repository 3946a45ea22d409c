// A capture after damage: what the root still has is stored again.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestSupport
import Testing

@Suite struct HealingTests {
    /// A captured root whose archive has lost every block that holds a node.
    private func damagedSandbox(_ seed: String) throws -> (sandbox: Sandbox, listing: TreeListing) {
        let sandbox = try Sandbox()
        var random = SeededGenerator(seed)
        for number in 0..<200 { try sandbox.root.write("file\(number)", random.noise(300)) }
        try sandbox.capture()
        for path in try Files(sandbox.archive.directory).segments() {
            let segment = try SegmentFile(at: path)
            let scan = try SegmentScan(
                of: segment, from: SegmentHeader.byteCount, verifyingPayloads: false, passingDamage: false)
            for offset in Set(scan.chunks.map(\.offset)) {
                let header = try segment.blockHeader(at: offset)
                guard header.chunks[0].kind == .node else { continue }
                let place = offset + header.headerLength + header.storedLength / 2
                let byte = try Files("/").read(path)[place]
                try Files("/").write(path, [byte ^ 0x10], at: place)
            }
        }
        return (sandbox, try TreeListing(of: sandbox.root.directory))
    }

    @Test func aCaptureAfterDamageStoresWhatIsLost() throws {
        let (sandbox, listing) = try damagedSandbox("aCaptureAfterDamageStoresWhatIsLost")
        let archive = try sandbox.reopened()
        #expect(try archive.check(data: true).goodSnapshots == 0)
        let result = try archive.capture(sandbox.root.directory)
        let target = sandbox.base.full("target")
        _ = try archive.restore(result.latest, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: listing, "the latest snapshot")
        #expect(try archive.check(data: true).goodSnapshots >= 1)
        #expect(try archive.capture(sandbox.root.directory).snapshot == nil)
    }

    @Test func aChangeAfterDamageIsCaptured() throws {
        let (sandbox, _) = try damagedSandbox("aChangeAfterDamageIsCaptured")
        try sandbox.root.write("file7", "changed")
        let wanted = try TreeListing(of: sandbox.root.directory)
        let archive = try sandbox.reopened()
        let snapshot = try #require(try archive.capture(sandbox.root.directory).snapshot)
        let target = sandbox.base.full("target")
        _ = try archive.restore(snapshot, RestoreOptions(target: target))
        try TreeListing(of: target).expect(equals: wanted, "the new snapshot")
        #expect(try archive.capture(sandbox.root.directory).snapshot == nil)
    }
}
