// Several users of one archive at the same time; each has its own archive object, like a separate process.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct ConcurrencyTests {
    @Test("different roots can be captured at the same time")
    func differentRoots() async throws {
        let sandbox = try Sandbox()
        let seed = SeededGenerator("different roots can be captured at the same time").seed
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await onThread {
                        try ConcurrencyTests.editAndCapture(sandbox, "root \(number)", seed &+ UInt64(number))
                    }
                }
            }
            try await group.waitForAll()
        }
        try sandbox.expectCleanArchive()
        #expect(try sandbox.reopened().roots().count == 4)
    }

    /// Edits and captures its own root repeatedly, then restores all its snapshots.
    private static func editAndCapture(_ sandbox: Sandbox, _ name: FilePath, _ seed: UInt64) throws {
        try sandbox.base.makeDirectory(name)
        let root = Files(sandbox.base.full(name))
        let archive = try sandbox.reopened()
        var edits = RandomEdits(root, SeededGenerator(seed: seed))
        var states: [(ListedSnapshot, TreeListing)] = []
        for _ in 0..<15 {
            for _ in 0..<3 { _ = try edits.edit() }
            let listing = try TreeListing(of: root.directory)
            if let snapshot = try archive.capture(root.directory).snapshot { states.append((snapshot, listing)) }
        }
        for (snapshot, listing) in states { try sandbox.restored(snapshot).expect(equals: listing, "seed \(seed)") }
    }

    /// One thread restores two states in turn while another captures: every snapshot has a complete state.
    @Test("captures and restores of one root take turns")
    func captureAndRestore() async throws {
        let sandbox = try Sandbox()
        var states: [(snapshot: ListedSnapshot, listing: TreeListing)] = []
        for state in 0..<2 {
            for number in 0..<100 { try sandbox.root.write("\(number)", "state \(state)") }
            try sandbox.root.write("only in \(state)", "x")
            let listing = try TreeListing(of: sandbox.root.directory)
            states.append((try sandbox.capture(), listing))
            try sandbox.root.remove("only in \(state)")
        }
        // The last removal is a state too.
        states.append((try sandbox.capture(), try TreeListing(of: sandbox.root.directory)))
        let snapshots = states.map(\.snapshot)
        async let restoring: Void = onThread {
            let archive = try sandbox.reopened()
            for turn in 0..<10 {
                let result = try archive.restore(snapshots[turn % 2])
                #expect(result.warnings == [])
            }
        }
        async let capturing: Void = onThread {
            let archive = try sandbox.reopened()
            for _ in 0..<30 { #expect(try archive.capture(sandbox.root.directory).problemCount == 0) }
        }
        _ = try await (restoring, capturing)
        for snapshot in try sandbox.archive.snapshots() {
            let restored = try sandbox.restored(snapshot)
            #expect(states.contains { $0.listing.differences(from: restored).isEmpty }, "\(snapshot.cause)")
        }
        try sandbox.expectCleanArchive()
    }
}
