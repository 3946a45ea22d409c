// Excluded paths are neither watched nor reported, and changed rules take effect immediately.

import Exclusions
import FileIO
import FileWatching
import TestTraits
import Testing

@Suite(.blocking) struct ExclusionTests {
    private static func rules(_ patterns: String..., excludesCaches: Bool = false) -> ExclusionRules {
        ExclusionRules(patterns: patterns.map { Array($0.utf8) }, excludesCaches: excludesCaches)
    }

    @Test("excluded directories are not watched and not reported", arguments: WatchBackend.reporting)
    func silent(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree(
            "mkdir -p build/deep/er\nmkdir -p builda\nmkdir -p src/build\nwrite src/a.o 1",
            rules: Self.rules("build/", "*.o"), backend: backend)
        #expect(watched.stats.watchedDirectories == 3, "the root, builda and src")
        #expect(watched.stats.excludedDirectories == 2)
        #expect(watched.kernelWatches == 3)
        try watched.run(
            """
            write build/f 1
            write src/build/f 1
            write src/b.o 1
            append src/a.o 2
            rm src/a.o
            rm -r src/build
            mkdir -p builda/build/new
            write builda/build/new/f 1
            chmod 700 build
            """)
        #expect(try await watched.batch().isEmpty)
        try watched.run("write builda/f 1\nwrite src/build 1")
        #expect(
            try await watched.batch().ranges == [
                .entry("builda"), .entry("builda/f"), .entry("src"), .entry("src/build"),
            ], "scenario 13, and a file is not excluded by a pattern for directories")
        #expect(watched.kernelWatches == 3)
    }

    @Test("a changed ignore file adds and removes watches", arguments: WatchBackend.reporting)
    func changedRules(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree("mkdir -p a/x/y\nmkdir -p b/x", backend: backend)
        #expect(watched.stats.watchedDirectories == 6)
        try watched.run("write a/.archiverignore x")
        #expect(try await watched.batch().ranges == [.subtree("a")])
        if backend == .inotify { #expect(watched.kernelWatches == 4) }
        try watched.run("write a/x/y/f 1\nwrite b/x/f 1")
        #expect(try await watched.batch().ranges == [.entry("b/x"), .entry("b/x/f")])

        try watched.run("write a/.archiverignore z")
        #expect(try await watched.batch().ranges == [.subtree("a")])
        #expect(watched.kernelWatches == 6)
        try watched.run("write a/x/y/f 22")
        #expect(try await watched.batch().ranges == [.entry("a/x/y/f")])

        try watched.run("write b/ignore x\nmv b/ignore b/.archiverignore")
        #expect(try await watched.batch().ranges == [.subtree("b")])
        if backend == .inotify { #expect(watched.kernelWatches == 5) }
        try watched.run("rm b/.archiverignore")
        #expect(try await watched.batch().ranges == [.subtree("b")])
        #expect(watched.kernelWatches == 6)
    }

    @Test("the rules of the new place apply to a moved directory", arguments: WatchBackend.reporting)
    func moved(_ backend: WatchBackend) async throws {
        let watched = try await WatchedTree(
            "mkdir -p a/out/deep\nmkdir -p b/out\nwrite b/.archiverignore out/", rules: Self.rules("/c"),
            backend: backend)
        #expect(watched.stats.watchedDirectories == 5)
        try watched.run("mv a/out b/moved\nmv b/out a/out")
        #expect(
            try await watched.batch().ranges == [
                .entry("a"), .subtree("a/out"), .entry("b"), .subtree("b/moved"),
            ])
        #expect(watched.watchedDirectories == 6)
        try watched.run("mv b/moved b/out")
        #expect(try await watched.batch().ranges == [.entry("b"), .entry("b/moved")])
        try watched.run("write b/out/deep/f 1")
        #expect(try await watched.batch().isEmpty)
        try watched.run("mv a c\nwrite c/f 1")
        #expect(try await watched.batch().ranges == [.entry(.root), .entry("a")])
        try watched.run("mv c d\nwrite d/f 22")
        #expect(try await watched.batch().ranges == [.entry(.root), .subtree("d")])
        if backend == .inotify { #expect(watched.kernelWatches == 4, "the root, b, d and d/out") }
    }

    /// A new directory at the old path must not get the rules of the directory that was there before.
    @Test("rules move with their directory and end with it")
    func owners() async throws {
        let watched = try await WatchedTree("mkdir -p a/x\nwrite a/.archiverignore x\nmkdir -p b")
        try watched.run("mv a b/c\nmkdir -p a/x")
        _ = try await watched.batch()
        try watched.run("write a/x/f 1\nwrite b/c/x/f 1")
        #expect(try await watched.batch().ranges == [.entry("a/x"), .entry("a/x/f")])
        try watched.run("rm -r b\nmkdir -p b/c/x")
        _ = try await watched.batch()
        try watched.run("write b/c/x/f 1")
        #expect(try await watched.batch().ranges == [.entry("b/c/x"), .entry("b/c/x/f")])
        #expect(watched.kernelWatches == watched.directories)
    }

    @Test("in a tagged cache, only changes of the tag are reported")
    func caches() async throws {
        let tag = "Signature:_8a477f597d28d172789f06886806bc55"
        let watched = try await WatchedTree(
            "mkdir -p cache/deep\nmkdir other", rules: Self.rules(excludesCaches: true))
        #expect(watched.kernelWatches == 4)
        try watched.write(tag.split(separator: "_").joined(separator: " "), to: "cache/CACHEDIR.TAG")
        #expect(try await watched.batch().ranges == [.subtree("cache")])
        #expect(watched.kernelWatches == 3)
        try watched.run("write cache/f 1\nwrite cache/deep/f 1")
        // The tag may have been read while it was being written, and again afterwards; excluded files are not reported.
        let ranges = try await watched.batch().ranges
        #expect(ranges.isEmpty || ranges == [.subtree("cache")], "\(ranges)")
        try watched.run("rm cache/CACHEDIR.TAG")
        #expect(try await watched.batch().ranges == [.subtree("cache")])
        #expect(watched.kernelWatches == 4)
    }

    @Test("the crawl after an overflow applies the rules")
    func overflow() async throws {
        let gate = ReadingGate()
        let watched = try await WatchedTree(
            "mkdir -p a/out/deep\nmkdir many", rules: Self.rules("out"), hooks: gate.hooks)
        gate.close()
        try watched.run("each 17000 write many/f% 1\nmkdir -p b/out/deep\nmkdir -p b/in")
        gate.open()
        #expect(try await watched.batch().ranges == [.subtree(.root)])
        #expect(watched.kernelWatches == 5, "the root, a, many, b and b/in")
    }

    @Test("mounts are entered if the rules say so", .enabled(if: Mount.isAllowed))
    func mounts() async throws {
        let tree = try TemporaryTree()
        try tree.run("mkdir on")
        let mount = try Mount(at: tree.root + "/on")
        defer { mount.end() }
        try tree.run("mkdir -p on/inner")
        let watched = try await WatchedTree(tree: tree, rules: ExclusionRules(crossesMounts: true))
        #expect(watched.stats.mountPoints == 0 && watched.stats.watchedDirectories == 3)
        try tree.run("write on/inner/f 1")
        #expect(try await watched.batch().ranges == [.entry("on/inner"), .entry("on/inner/f")])
    }
}
