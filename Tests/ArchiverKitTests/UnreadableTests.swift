// Unreadable files and directories keep their last known state and are reported; everything else is captured.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct UnreadableTests {
    /// Creates a sandbox as an ordinary user, and calls `body` with it on a thread of that user.
    private func withSandbox(_ body: @escaping @Sendable (Sandbox) throws -> Void) async throws {
        try await asOrdinaryUser {
            let sandbox = try Sandbox()
            try body(sandbox)
        }
    }

    @Test("an unreadable file keeps its last state") func file() async throws {
        try await withSandbox { sandbox in
            try sandbox.root.write("secret", "known")
            try sandbox.root.write("other", "x")
            let known = try TreeListing(of: sandbox.root.directory)
            try sandbox.capture()
            try sandbox.root.write("secret", "unknown")
            try sandbox.root.setPermissions("secret", 0)
            try sandbox.root.write("other", "y")
            let result = try sandbox.archive.capture(sandbox.root.directory)
            #expect(result.problems.map(\.path.description) == ["secret"])
            #expect(result.problems.first?.reason == .unreadable)
            let snapshot = try #require(result.snapshot)
            let restored = try sandbox.restored(snapshot)
            #expect(restored.objects["secret"] == known.objects["secret"])
            #expect(restored.objects["other"]?.data.first.map { Array($0) } == Array("y".utf8))
            #expect(try sandbox.archive.details(of: snapshot).problems.count == 1)
        }
    }

    @Test("a file that could never be read is omitted") func neverRead() async throws {
        try await withSandbox { sandbox in
            try sandbox.root.write("secret", "x")
            try sandbox.root.setPermissions("secret", 0o200)
            try sandbox.root.write("other", "x")
            let result = try sandbox.archive.capture(sandbox.root.directory)
            #expect(result.problemCount == 1)
            #expect(try sandbox.archive.entry(at: .at("secret"), in: result.latest) == nil)
            #expect(try sandbox.archive.entry(at: .at("other"), in: result.latest) != nil)
            // The problem is reported each time, even if nothing changed.
            let again = try sandbox.archive.capture(sandbox.root.directory)
            #expect(again.snapshot == nil)
            #expect(again.problemCount == 1)
        }
    }

    /// 0300: can be entered, but not listed; 0600: can be listed, but not entered.
    @Test("an unreadable directory keeps its known content", arguments: [0o000, 0o300, 0o400, 0o600] as [mode_t])
    func directory(permissions: mode_t) async throws {
        try await withSandbox { sandbox in
            try sandbox.root.makeDirectory("closed/inner")
            try sandbox.root.write("closed/file", "x")
            try sandbox.root.write("closed/inner/file", "y")
            try sandbox.root.write("zeta", "x")
            let known = try TreeListing(of: sandbox.root.directory)
            try sandbox.capture()
            try sandbox.root.setPermissions("closed", permissions)
            try sandbox.root.write("zeta", "y")
            let result = try sandbox.archive.capture(sandbox.root.directory)
            try sandbox.root.setPermissions("closed", 0o755)
            #expect(result.problemCount > 0)
            #expect(result.problems.allSatisfy { $0.path.description.hasPrefix("closed") && $0.reason == .unreadable })
            let target = sandbox.base.full("target")
            _ = try sandbox.archive.restore(try #require(result.snapshot), RestoreOptions(target: target))
            try Files(target).setPermissions("closed", 0o755)
            let restored = try TreeListing(of: target)
            for path in ["closed/inner", "closed/file", "closed/inner/file"] {
                #expect(restored.objects[path] == known.objects[path])
            }
            #expect(restored.objects["zeta"]?.data.first.map { Array($0) } == Array("y".utf8))
        }
    }

    @Test("undo leaves alone what could not be read before the restore") func undo() async throws {
        try await withSandbox { sandbox in
            try sandbox.root.makeDirectory("d")
            try sandbox.root.write("d/x", "known")
            let first = try sandbox.capture()
            try sandbox.root.write("d/x", "never captured")
            try sandbox.root.write("d/y", "never captured")
            try sandbox.root.setPermissions("d", 0)
            _ = try sandbox.archive.restore(first)
            let root = try #require(try sandbox.archive.roots().first)
            let undone = try sandbox.archive.undo(root)
            #expect(undone[0].restore.warnings.contains { $0.contains("d could not be read") })
            try sandbox.root.setPermissions("d", 0o755)
            for name in ["d/x", "d/y"] as [FilePath] {
                #expect(try sandbox.root.read(name) == Array("never captured".utf8))
            }
        }
    }

    @Test("an unreadable root is refused") func root() async throws {
        try await withSandbox { sandbox in
            try sandbox.root.setPermissions("", 0)
            let error = ArchiverError.expect(.permission) {
                _ = try sandbox.archive.capture(sandbox.root.directory)
            }
            #expect(error?.remedy != nil)
        }
    }

    /// Only root can set owners; everything else is restored.
    @Test("owners that cannot be set cause a warning", .enabled(if: isRoot)) func owners() async throws {
        let target = try TemporaryDirectory.create()
        try Files("/").setOwner(target, uid_t(nobody), gid_t(nobody))
        let sandbox = try Sandbox()
        try sandbox.base.setPermissions("", 0o755)
        try sandbox.root.write("file", "x")
        try sandbox.root.setOwner("file", 1234, 1234)
        try sandbox.root.setPermissions("file", 0o4755)
        try sandbox.root.makeDirectory("directory")
        let before = try TreeListing(of: sandbox.root.directory)
        let snapshot = try sandbox.capture()
        _ = system("chown -R \(nobody):\(nobody) '\(sandbox.archive.directory)'")
        let result = try await asOrdinaryUser {
            try sandbox.archive.restore(snapshot, RestoreOptions(target: target.appending("new")))
        }
        #expect(result.warningCount == 2)
        #expect(result.warnings.first?.contains("restore as root") == true)
        #expect(result.warnings.last?.contains("file was restored without its setuid") == true)
        let restored = try TreeListing(of: target.appending("new"))
        for (path, object) in before.objects {
            var found = try #require(restored.objects[path])
            #expect(found.owner == uid_t(nobody))
            found.owner = object.owner
            found.group = object.group
            // A setuid program of another user must not run as this user instead.
            if path == "file" { found.permissions |= 0o4000 }
            #expect(found == object, "\(path)")
        }
        try Files(target).removeAll()
    }

    @Test("read-only directories are restored") func readOnlyDirectories() async throws {
        try await withSandbox { sandbox in
            try sandbox.root.makeDirectory("locked/inner")
            try sandbox.root.write("locked/inner/file", "x")
            try sandbox.root.setPermissions("locked/inner", 0o500)
            try sandbox.root.setPermissions("locked", 0o555)
            try sandbox.root.setPermissions("", 0o555)
            let before = try TreeListing(of: sandbox.root.directory)
            let snapshot = try sandbox.capture()
            try sandbox.restored(snapshot).expect(equals: before, "restored elsewhere")
            for path in ["", "locked", "locked/inner"] as [FilePath] { try sandbox.root.setPermissions(path, 0o755) }
            try sandbox.root.write("locked/inner/file", "changed")
            try sandbox.root.write("locked/inner/new", "x")
            for path in ["", "locked", "locked/inner"] as [FilePath] { try sandbox.root.setPermissions(path, 0o500) }
            #expect(try sandbox.archive.restore(snapshot).warnings == [])
            try sandbox.expectRoot(equals: before)
        }
    }
}
