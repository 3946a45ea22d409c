// What is peculiar to fanotify: marks that cannot be removed one by one, and events without an order.

import FileIO
import Glibc
import SystemPackage
import TestTraits
import Testing

@testable import FileWatching

@Suite(.enabled(if: WatchBackend.telling.contains(.fanotify)), .blocking)
struct FanotifyTests {
    /// Directories that were moved out of the root keep their marks until there are too many of them.
    @Test func marksOfNoUseAreRemovedAllAtOnce() async throws {
        let count = Fanotify.toleratedMarks + 10
        let watched = try await WatchedTree("mkdir keep\nmkdir away\neach \(count) mkdir away/%", backend: .fanotify)
        #expect(watched.kernelMarks == count + 3)
        try watched.run("mv away ../outside/away")
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree(.root)], "everything is marked anew")
        #expect(batch.gaps.map(\.cause) == [.overflow], "which takes a moment")
        #expect(watched.kernelMarks == 2)
        try watched.run("write keep/f 1\nmkdir keep/d")
        try await watched.check()
    }

    @Test func aDirectoryThatComesBackIsKnownByItsOldMark() async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nmkdir stays", backend: .fanotify)
        try watched.run("mv a ../outside/a")
        try await watched.check()
        #expect(watched.kernelMarks == 4, "the kernel was not told: where they are is not known")
        try watched.run("write ../outside/a/b/f 1")
        #expect(try await watched.batch().isEmpty, "what happens outside is nobody's business")
        try watched.run("mv ../outside/a a")
        try await watched.check()
        try watched.run("write a/b/f 22")
        #expect(try await watched.check().ranges == [.entry("a/b/f")])
        #expect(watched.kernelMarks == watched.directories)
    }

    /// There is no IN_IGNORED: what is remembered of a directory goes with the news of its deletion.
    @Test func theEndOfADirectoryEndsItsWatch() throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir d")
        let fanotify = try Fanotify()
        let watch = try Self.add(tree.root + "/d", to: fanotify)
        #expect(try Self.add(tree.root + "/d", to: fanotify) == watch)
        try tree.run("rmdir d\nmkdir d")
        #expect(fanotify.backlog == FanotifyEvent.headerBytes)
        var events = [DirectoryEvent]()
        #expect(fanotify.read { events.append($0) } == FanotifyEvent.headerBytes)
        #expect(events == [DirectoryEvent(watch: watch, mask: [.deleteSelf, .ignored, .isDirectory])])
        fanotify.forget(watch)
        #expect(try Self.add(tree.root + "/d", to: fanotify) != watch, "another directory, if of the same inode")
    }

    private static func add(_ path: String, to fanotify: Fanotify) throws -> WatchID {
        try fanotify.add(Descriptor.open(FilePath(path), O_RDONLY | O_DIRECTORY), path: .root, .contents)
    }

    @Test func manyCyclesOfOneFileAreOneEvent() async throws {
        let watched = try await WatchedTree("write f 1", backend: .fanotify)
        try watched.run("each 20000 append f x\nrm f\nmkdir f\nwrite f/g 1\nrm -r f\nwrite f 1\nrm f\nmkdir f")
        let batch = try await watched.check()
        #expect(batch.gaps.isEmpty, "the queue did not overflow")
        #expect(watched.kernelMarks == 2)
    }
}
