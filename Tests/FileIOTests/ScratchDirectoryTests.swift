// Scratch directories, and the removal of trees.

import FileIO
import Glibc
import SystemPackage
import Testing

@Suite struct ScratchDirectoryTests {
    private func exists(_ path: FilePath) -> Bool { access(path.string, F_OK) == 0 }

    @Test("a scratch directory is removed with its contents, at any depth and with any permissions")
    func removed() throws {
        var path: FilePath
        do {
            let scratch = try ScratchDirectory(for: "test")
            path = scratch.path
            for name in ["a", "a/b", "a/b/c"] { mkdir(path.appending(name).string, 0o755) }
            for name in ["file", "a/file", "a/b/c/file"] {
                _ = try Descriptor.open(path.appending(name), O_WRONLY | O_CREAT, permissions: 0o400)
            }
            symlink("/", path.appending("a/link").string)
            chmod(path.appending("a/b").string, 0)
            #expect(exists(path.appending("a/link")))
            withExtendedLifetime(scratch) {}
        }
        #expect(!exists(path))
        path.removeLastComponent()
        #expect(exists(path))
    }

    @Test("the contents of a mount in the tree are not removed", .enabled(if: geteuid() == 0))
    func mounted() throws {
        let other = try ScratchDirectory(for: "other")
        let tree = try ScratchDirectory(for: "tree")
        defer {
            withExtendedLifetime(tree) {}
            withExtendedLifetime(other) {}
        }
        _ = try Descriptor.open(other.path.appending("kept"), O_WRONLY | O_CREAT, permissions: 0o600)
        let place = tree.path.appending("place")
        mkdir(place.string, 0o755)
        // 4096 is MS_BIND of mount(2).
        guard mount(other.path.string, place.string, nil, 4096, nil) == 0 else { return }
        defer { umount2(place.string, 0) }
        #expect(throws: FileError.self) { try Directory.removeTree(place.removingLastComponent()) }
        #expect(exists(other.path.appending("kept")))
        #expect(exists(place.appending("kept")))
    }
}
