// Files that change or vanish during a capture: never an error, and never an unmarked mixture of states.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct BusyFileTests {
    private static let blockBytes = 4096
    private static let blockCount = 16
    private static let captures = 30

    /// A thread that changes files until it is stopped.
    private final class Writer: Sendable {
        private let isStopping = Atomic(false)
        private let failure = Locked<(any Error)?>(nil)
        private let end = DispatchSemaphore(value: 0)

        init(_ step: @escaping @Sendable (UInt64) throws -> Void) {
            Thread.detachNewThread { [self] in
                var number: UInt64 = 0
                do {
                    while !isStopping.load(ordering: .relaxed) {
                        number += 1
                        try step(number)
                    }
                } catch {
                    failure.withLock { $0 = error }
                }
                end.signal()
            }
        }

        func stop() throws {
            isStopping.store(true, ordering: .relaxed)
            end.wait()
            if let error = failure.withLock({ $0 }) { throw error }
        }
    }

    /// Every written block contains the number of the write, and the order of the blocks is known.
    ///
    /// So the test can distinguish a state that existed from a mixture of several.
    @Test("captured content is a state that existed, or is marked as unstable")
    func stateOrUnstable() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write(
            "file", [UInt8](repeating: 0, count: BusyFileTests.blockCount * BusyFileTests.blockBytes))
        let file = open(sandbox.root.full("file").string, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let writer = Writer { number in
            var block = [UInt64](repeating: 0, count: BusyFileTests.blockBytes / 8)
            block[0] = number
            pwrite(
                file, block, BusyFileTests.blockBytes, BusyFileTests.block(ofWrite: number) * BusyFileTests.blockBytes)
            // Pause from time to time, so that a consistent state can be read.
            if number % 512 == 0 { for _ in 0..<4096 { sched_yield() } }
        }
        let results = try await onThread {
            let results = try (0..<BusyFileTests.captures).map { _ in
                try sandbox.archive.capture(sandbox.root.directory)
            }
            // Stop it here: other tests may delay this one's next step for long.
            try writer.stop()
            return results
        }
        for result in results {
            let entry = try #require(try sandbox.archive.entry(at: .at("file"), in: result.latest))
            if entry.isUnstable {
                #expect(result.problems.contains { $0.path == entry.path && $0.reason == .unstable })
                continue
            }
            let numbers = try BusyFileTests.numbers(in: entry, sandbox)
            #expect(
                numbers == BusyFileTests.state(after: numbers.max() ?? 0),
                "a mixture was treated as a state: \(numbers)"
            )
        }
        // After the writes have ended, it is captured as it is.
        let last = try await onThread { try sandbox.archive.capture(sandbox.root.directory) }
        #expect(last.problemCount == 0)
        let wanted = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(last.latest).expect(equals: wanted, "the quiet file")
        try sandbox.expectCleanArchive()
    }

    @Test("files that are truncated, removed or replaced during a capture cause no error")
    func busyTree() async throws {
        let sandbox = try Sandbox()
        let seed = SeededGenerator("files that change during a capture cause no error").seed
        let edits = Locked(RandomEdits(sandbox.root, SeededGenerator(seed: seed)))
        let writer = Writer { _ in _ = try edits.withLock { try $0.edit() } }
        let snapshots = try await onThread {
            let snapshots = try (0..<BusyFileTests.captures).compactMap { _ in
                try sandbox.archive.capture(sandbox.root.directory).snapshot
            }
            // Stop it here: other tests may delay this one's next step for long.
            try writer.stop()
            return snapshots
        }
        for snapshot in snapshots { _ = try sandbox.restored(snapshot, ignoringSockets: true) }
        let last = try await onThread { try sandbox.archive.capture(sandbox.root.directory) }
        #expect(last.problemCount == 0, "seed \(seed)")
        let wanted = try TreeListing(of: sandbox.root.directory)
        try sandbox.restored(last.latest).expect(equals: wanted, "seed \(seed), the quiet tree")
        try sandbox.expectCleanArchive()
    }

    /// The block that the write number `number` changes.
    private static func block(ofWrite number: UInt64) -> Int { Int(number % UInt64(blockCount)) * 5 % blockCount }

    /// The number of the last write to each block after `last` writes.
    private static func state(after last: UInt64) -> [UInt64] {
        var state = [UInt64](repeating: 0, count: blockCount)
        for number in (last > UInt64(blockCount) ? last - UInt64(blockCount) + 1 : 1)..<(last + 1) {
            state[block(ofWrite: number)] = number
        }
        return state
    }

    /// The numbers of the writes in a captured file's blocks.
    private static func numbers(in entry: Entry, _ sandbox: Sandbox) throws -> [UInt64] {
        var bytes: [UInt8] = []
        try sandbox.archive.forEachPiece(of: entry) { piece in
            bytes += piece
            return true
        }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: blockBytes).map {
                bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
            }
        }
    }
}
