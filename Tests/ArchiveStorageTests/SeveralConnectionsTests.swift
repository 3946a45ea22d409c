// Several objects of one archive in one process: closing one must not release the locks of another.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiveStorage

@Suite("Several connections of one process", .blocking)
struct SeveralConnectionsTests {
    /// The locks that this process holds on the file at `path` (proc_locks(5)).
    ///
    /// The kernel makes the list in pieces, and a lock is missing if others end meanwhile: so it is read several times.
    private func locks(on path: FilePath) throws -> Set<String> {
        let file = try #require(FileIdentity(at: path))
        var found: Set<String> = []
        for _ in 0..<20 {
            for line in try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count > 5, words[1] == "POSIX", words[4] == "\(getpid())",
                    words[5].hasSuffix(":\(file.inode)")
                else { continue }
                found.insert(words.dropFirst().joined(separator: " "))
            }
        }
        return found
    }

    @Test("others that have the archive open, and their commits, are seen; one's own commit is not")
    func others() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let place = directory.path.appending("archive")
        let store = try ArchiveStore.open(place, creating: true)
        #expect(!store.isOpenElsewhere)
        do {
            let other = try ArchiveStore.open(place, creating: false)
            #expect(store.isOpenElsewhere && other.isOpenElsewhere)
            let epoch = try other.beginEpoch()
            #expect(try store.epochs().isHeldElsewhere)
            #expect(try !other.epochs().isHeldElsewhere)
            withExtendedLifetime(epoch) {}
        }
        #expect(try !store.epochs().isHeldElsewhere)
        #expect(!store.isOpenElsewhere)
    }

    @Test("opening and closing an archive a second time leaves the catalogue's locks in place")
    func opening() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let place = directory.path.appending("archive")
        let store = try ArchiveStore.open(place, creating: true)
        let files = ["", "-shm"].map { FilePath(store.layout.catalogue.string + $0) }
        _ = try store.catalogue.segments()
        let before = try files.map(locks)
        #expect(before.allSatisfy { !$0.isEmpty }, "\(before)")
        for _ in 0..<3 { _ = try ArchiveStore.open(place, creating: false).catalogue.segments() }
        #expect(try files.map(locks) == before)
        withExtendedLifetime(store) {}
    }
}
