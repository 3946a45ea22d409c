// Properties of fanotify: marks that cannot be removed one by one, and events without an order.

import FileIO
import Glibc
import SystemPackage
import TestTraits
import Testing

@testable import FileWatching

@Suite(.enabled(if: WatchBackend.reporting.contains(.fanotify)), .blocking)
struct FanotifyTests {
    /// Directories that were moved out of the root keep their marks until there are too many.
    @Test("too many useless marks are removed together")
    func uselessMarks() async throws {
        let count = Fanotify.toleratedMarks + 10
        let watched = try await WatchedTree("mkdir keep\nmkdir away\neach \(count) mkdir away/%", backend: .fanotify)
        #expect(watched.kernelMarks == count + 3)
        try watched.run("mv away ../outside/away")
        let batch = try await watched.check()
        #expect(batch.ranges == [.subtree(.root)], "everything is marked again")
        #expect(batch.gaps.map(\.cause) == [.overflow], "because that takes a moment")
        #expect(watched.kernelMarks == 2)
        try watched.run("write keep/f 1\nmkdir keep/d")
        try await watched.check()
    }

    @Test("a directory that returns is recognised by its old mark")
    func returning() async throws {
        let watched = try await WatchedTree("mkdir -p a/b\nmkdir stays", backend: .fanotify)
        try watched.run("mv a ../outside/a")
        try await watched.check()
        #expect(watched.kernelMarks == 4, "the marks remain: their directories' new place is not known")
        try watched.run("write ../outside/a/b/f 1")
        #expect(try await watched.batch().isEmpty, "changes outside the root are ignored")
        try watched.run("mv ../outside/a a")
        try await watched.check()
        try watched.run("write a/b/f 22")
        #expect(try await watched.check().ranges == [.entry("a/b/f")])
        #expect(watched.kernelMarks == watched.directories)
    }

    /// fanotify has no IN_IGNORED: a directory's watch is forgotten when its deletion is reported.
    @Test("the deletion of a directory ends its watch")
    func deletion() throws {
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
        #expect(
            try Self.add(tree.root + "/d", to: fanotify) != watch,
            "a different directory, even with the same inode number")
    }

    private static func add(_ path: String, to fanotify: Fanotify) throws -> WatchID {
        try fanotify.add(Descriptor.open(FilePath(path), O_RDONLY | O_DIRECTORY), path: .root, .contents)
    }

    @Test("many events of one file are merged and do not overflow the queue")
    func merging() async throws {
        let watched = try await WatchedTree("write f 1", backend: .fanotify)
        try watched.run("each 20000 append f x\nrm f\nmkdir f\nwrite f/g 1\nrm -r f\nwrite f 1\nrm f\nmkdir f")
        let batch = try await watched.check()
        #expect(batch.gaps.isEmpty, "the queue did not overflow")
        #expect(watched.kernelMarks(downTo: 2) == 2)
    }
}
