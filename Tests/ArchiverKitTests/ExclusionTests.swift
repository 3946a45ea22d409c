// Excluded paths are not read, not stored, not touched by a restore, and never removed from earlier snapshots.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import Exclusions
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct ExclusionTests {
    // MARK: Capturing

    @Test("ignore files apply to their directory and below")
    func ignoreFiles() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("build/deep")
        try sandbox.root.makeDirectory("builda")
        try sandbox.root.makeDirectory("src/build")
        try sandbox.root.write(".archiverignore", "/build/\n*.o\n")
        try sandbox.root.write("src/.archiverignore", "!keep.o\nsecret\n")
        for file in ["build/deep/f", "builda/f", "a.o", "src/a.o", "src/keep.o", "src/build/f", "src/secret", "secret"]
        {
            try sandbox.root.write(FilePath(file), "x")
        }
        let snapshot = try sandbox.capture()
        #expect(
            try sandbox.files(in: snapshot) == [
                ".archiverignore", "builda/f", "secret", "src/.archiverignore", "src/build/f", "src/keep.o",
            ])
        #expect(try sandbox.archive.entry(at: .at("build"), in: snapshot) == nil)
        #expect(snapshot.totals.directories == 4)
    }

    @Test("options exclude by pattern, size and cache tag")
    func options() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("cache/deep")
        try sandbox.root.write("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# by a test")
        try sandbox.root.write("cache/deep/f", "x")
        try sandbox.root.makeDirectory("no cache")
        try sandbox.root.write("no cache/CACHEDIR.TAG", "something else")
        try sandbox.root.write("no cache/f", "x")
        try sandbox.root.write("large", [UInt8](repeating: 7, count: 1001))
        try sandbox.root.write("small", [UInt8](repeating: 7, count: 1000))
        try sandbox.root.write("a.log", "x")
        let rules = ExclusionRules(patterns: [Array("*.log".utf8)], largerThan: 1000, excludesCaches: true)
        let result = try sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: rules))
        let expected = ["cache/CACHEDIR.TAG", "no cache/CACHEDIR.TAG", "no cache/f", "small"]
        #expect(try sandbox.files(in: result.latest) == expected)
        #expect(try sandbox.archive.details(of: result.latest).exclusions == rules)
    }

    /// An unreadable directory would cause a problem if it were opened.
    @Test("excluded paths are not read")
    func notRead() async throws {
        try await asOrdinaryUser {
            let sandbox = try Sandbox()
            try sandbox.root.makeDirectory("private/deep")
            try sandbox.root.write("secret", "x")
            try sandbox.root.setPermissions("private", 0)
            try sandbox.root.setPermissions("secret", 0)
            try sandbox.root.write(".archiverignore", "private\nsecret\n")
            let snapshot = try sandbox.capture()
            #expect(try sandbox.files(in: snapshot) == [".archiverignore"])
        }
    }

    @Test("a changed ignore file affects new snapshots only")
    func changedIgnoreFile() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        try sandbox.root.write("d/a.o", "object")
        try sandbox.root.write("d/a.c", "source")
        let first = try sandbox.capture()
        try sandbox.root.write(".archiverignore", "*.o\n")
        let second = try sandbox.capture()
        #expect(try sandbox.files(in: second) == [".archiverignore", "d/a.c"])
        #expect(second.changes.removed == 1)
        try sandbox.root.write(".archiverignore", "")
        let third = try sandbox.capture()
        #expect(try sandbox.files(in: third) == [".archiverignore", "d/a.c", "d/a.o"])
        #expect(try sandbox.files(in: first) == ["d/a.c", "d/a.o"])
        try sandbox.expectCleanArchive()
    }

    @Test(
        "with .gitignore files, the captured files are those that git would add",
        arguments: [UInt64(1), 2, 3, .random(in: 4...999_999)])
    func sameAsGit(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sandbox = try Sandbox()
        let names = ["a", "b", "ab", "a.o", "b.o", "build", "x y"]
        let patterns = [
            "a", "*.o", "!a.o", "/build", "build/", "**/b", "a/**", "!*/", "/*/a", "[ab].o", "x\\ y", "a/b", "?b",
        ]
        for _ in 0..<120 {
            let depth = Int.random(in: 0...3, using: &random)
            let directory = (0..<depth).map { _ in names[Int.random(in: 0..<names.count, using: &random)] }
                .joined(separator: "/")
            // A file may be in the place of a directory, and vice versa.
            try? sandbox.root.makeDirectory(FilePath(directory))
            let name = names[Int.random(in: 0..<names.count, using: &random)]
            try? sandbox.root.write(FilePath(directory).appending(name), "x")
            guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
            let lines = (0..<3).map { _ in patterns[Int.random(in: 0..<patterns.count, using: &random)] }
            try? sandbox.root.write(FilePath(directory).appending(".gitignore"), lines.joined(separator: "\n"))
        }
        let rules = ExclusionRules(ignoreFileNames: [ExclusionRules.gitIgnoreFileName])
        let result = try sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: rules))
        let taken = try sandbox.files(in: result.latest).filter { !$0.hasSuffix(".gitignore") }
        #expect(try taken == gitFiles(in: sandbox.root.directory), "seed \(seed)")
    }

    /// The files that `git add .` would add, without ignore files, in walk order.
    private func gitFiles(in directory: FilePath) throws -> [String] {
        let git = try ChildProcess.run([
            "sh", "-c",
            """
            export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_DIR="$1.git" GIT_WORK_TREE="$1"
            git init -q && cd "$1" && git ls-files -z --others --exclude-per-directory=.gitignore
            """, "sh", directory.string,
        ])
        try #require(git.status == 0, "\(git.errorText)")
        return git.output.split(separator: 0).compactMap { RelativePath(Array($0)) }.sorted().map(\.description)
            .filter { !$0.hasSuffix(".gitignore") }
    }

    // MARK: Restoring

    @Test("a restore does not touch excluded paths")
    func restore() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write(".archiverignore", "*.o\n/build/\n")
        try sandbox.root.makeDirectory("build")
        try sandbox.root.write("build/out", "built")
        try sandbox.root.write("a.c", "one")
        let first = try sandbox.capture()
        try sandbox.root.makeDirectory("later")
        try sandbox.root.write("later/b.c", "two")
        try sandbox.root.write("later/b.o", "object of two")
        try sandbox.root.write("a.c", "three")
        try sandbox.root.write("a.o", "object")
        let result = try sandbox.archive.restore(first)
        #expect(try sandbox.root.read("a.c") == Array("one".utf8))
        #expect(try sandbox.root.read("a.o") == Array("object".utf8))
        #expect(try sandbox.root.read("build/out") == Array("built".utf8))
        #expect(!sandbox.root.exists("later/b.c"))
        // The excluded file was not captured before the restore, so its directory must stay.
        #expect(try sandbox.root.read("later/b.o") == Array("object of two".utf8))
        #expect(result.warningCount == 1)
    }

    /// Otherwise the snapshot before the restore would hold them, or the next one, or the next restore remove them.
    @Test("a restore to a state before an ignore file neither touches nor stores the paths that it excludes")
    func restoreFromBeforeAnIgnoreFile() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("out")
        try sandbox.root.write("out/a", "old")
        try sandbox.root.write("a.c", "old")
        try sandbox.root.write("a.o", "old")
        let first = try sandbox.capture()
        try sandbox.root.write(".archiverignore", "*.o\nout\nsecret.env\n")
        try sandbox.root.write("a.c", "new")
        try sandbox.root.write("a.o", "precious")
        try sandbox.root.write("out/b", "precious")
        try sandbox.root.write("secret.env", "password")
        try sandbox.capture()
        let planned = try sandbox.archive.restore(first, RestoreOptions(isDryRun: true))
        let result = try sandbox.archive.restore(first)
        for one in [planned, result] {
            // out and out/a, out/b, a.o and the secret; the tree of the first snapshot has three of them.
            #expect(one.excluded >= 4 && one.deleted == 0 && one.replaced == 1, "\(one)")
            #expect(one.warnings.contains { $0.contains("ignore files") }, "\(one.warnings)")
        }
        #expect(planned.excluded == result.excluded && result.skipped == 0 && result.isComplete)
        func check() throws {
            #expect(try sandbox.root.read("a.o") == Array("precious".utf8))
            #expect(try sandbox.root.read("out/b") == Array("precious".utf8))
            #expect(try sandbox.root.read("secret.env") == Array("password".utf8))
            #expect(sandbox.root.exists(".archiverignore"))
            for snapshot in try sandbox.archive.snapshots() {
                #expect(try sandbox.archive.entry(at: .at("secret.env"), in: snapshot) == nil)
                #expect(try sandbox.archive.entry(at: .at("out/b"), in: snapshot) == nil)
            }
        }
        try check()
        #expect(try sandbox.root.read("a.c") == Array("old".utf8))
        #expect(try sandbox.archive.restore(first).operation == nil, "there is nothing more to do")
        let root = try #require(try sandbox.archive.roots().first)
        _ = try sandbox.archive.undo(root)
        #expect(try sandbox.root.read("a.c") == Array("new".utf8))
        _ = try sandbox.archive.redo(root)
        _ = try sandbox.archive.capture(sandbox.root.directory)
        try check()
        // A path that the user names is restored, excluded or not.
        _ = try sandbox.archive.restore(first, RestoreOptions(path: .at("a.o")))
        #expect(try sandbox.root.read("a.o") == Array("old".utf8))
        try sandbox.expectCleanArchive()
    }

    @Test("an undo takes back the ignore file that its restore brought, and leaves the excluded paths alone")
    func undoOfAnIgnoreFile() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write(".archiverignore", "*.o\n")
        let first = try sandbox.capture()
        try sandbox.root.remove(".archiverignore")
        try sandbox.root.write("a.o", "captured")
        try sandbox.capture()
        _ = try sandbox.archive.restore(first)
        #expect(sandbox.root.exists(".archiverignore"))
        #expect(try sandbox.root.read("a.o") == Array("captured".utf8))
        let root = try #require(try sandbox.archive.roots().first)
        let undone = try sandbox.archive.undo(root)
        #expect(undone[0].restore.isComplete && !sandbox.root.exists(".archiverignore"))
        #expect(try sandbox.root.read("a.o") == Array("captured".utf8))
    }

    /// A path that the wanted snapshot excluded may have existed.
    @Test("a path that was excluded from the snapshot is not removed by a restore")
    func excludedThen() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a.c", "one")
        try sandbox.root.write("a.o", "object")
        let rules = ExclusionRules(patterns: [Array("*.o".utf8)])
        let first = try sandbox.archive.capture(sandbox.root.directory, CaptureOptions(exclusions: rules)).latest
        try sandbox.root.write("a.c", "two")
        let all = CaptureOptions(exclusions: ExclusionRules(), setsExclusions: true)
        #expect(try sandbox.archive.capture(sandbox.root.directory, all).snapshot?.totals.files == 2)
        try sandbox.archive.differences(from: first, toDirectory: sandbox.root.directory) { difference in
            #expect(difference.path.description != "a.o")
            return true
        }
        let result = try sandbox.archive.restore(first)
        #expect(try sandbox.root.read("a.o") == Array("object".utf8))
        #expect(try sandbox.root.read("a.c") == Array("one".utf8))
        #expect(result.excluded == 1)
    }

    @Test("a restore elsewhere restores everything in the snapshot")
    func restoreElsewhere() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("a.o", "object")
        let first = try sandbox.capture()
        try sandbox.root.write(".archiverignore", "*.o\n")
        try sandbox.capture()
        let target = sandbox.base.directory.appending("elsewhere")
        _ = try sandbox.archive.restore(first, RestoreOptions(target: target))
        #expect(try Files(target).read("a.o") == Array("object".utf8))
    }

    // MARK: Watching

    @Test("a watcher applies changed ignore files immediately", .timeLimit(.minutes(60)))
    func watcher() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("build/deep")
        try sandbox.root.write(".archiverignore", "/build/\n*.o\n")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try sandbox.root.write("build/deep/out", "x")
        try sandbox.root.write("a.o", "x")
        try await watcher.service.settle()
        #expect(try sandbox.archive.snapshots().count == 1, "only excluded paths changed")

        try sandbox.root.write(".archiverignore", "*.o\n")
        try await watcher.service.settle()
        let second = try sandbox.archive.snapshot(.latest)
        #expect(try sandbox.files(in: second) == [".archiverignore", "build/deep/out"])
        try sandbox.root.write("build/deep/out", "changed")
        try await watcher.service.settle()
        let third = try sandbox.archive.snapshot(.latest)
        let content = try sandbox.archive.entry(at: .at("build/deep/out"), in: third)?.content
        #expect(content == .inline(Array("changed".utf8)))

        try sandbox.root.write("build/.archiverignore", "deep\n")
        try await watcher.service.settle()
        let expected = [".archiverignore", "build/.archiverignore"]
        #expect(try sandbox.files(in: sandbox.archive.snapshot(.latest)) == expected)
        try sandbox.root.rename("build", to: "other")
        try sandbox.root.remove("other/.archiverignore")
        try await watcher.service.settle()
        #expect(try sandbox.files(in: sandbox.archive.snapshot(.latest)) == [".archiverignore", "other/deep/out"])
        try await watcher.stop()
    }
}

extension Sandbox {
    /// The paths of the files in `snapshot`, in walk order.
    fileprivate func files(in snapshot: ListedSnapshot) throws -> [String] {
        var paths: [String] = []
        try archive.forEachEntry(in: snapshot) { entry in
            if entry.kind == .file { paths.append(entry.path.description) }
            return true
        }
        return paths
    }
}
