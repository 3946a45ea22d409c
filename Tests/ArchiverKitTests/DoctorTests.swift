// The doctor's findings on a directory and on the place of an archive.

import ArchiveFormat
import ArchiveStorage
import Exclusions
import FileIO
import Glibc
import Roots
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct DoctorTests {
    /// The findings on `topic`.
    private static func findings(
        _ topic: String, archive: FilePath, directory: FilePath? = nil, rules: ExclusionRules = ExclusionRules()
    ) throws -> [DoctorFinding] {
        try Doctor(archive: archive, directory: directory, rules: rules).examine().filter { $0.topic == topic }
    }

    private static func findings(_ topic: String, _ sandbox: Sandbox) throws -> [DoctorFinding] {
        try findings(topic, archive: sandbox.archive.directory, directory: sandbox.root.directory)
    }

    // MARK: The directory

    @Test("the directory's entries and bytes are counted")
    func counts() throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("a/b")
        try sandbox.root.setSize("a/large", 3 << 20)
        try sandbox.root.write("a/b/small", "x")
        try sandbox.root.makeSymbolicLink("link", to: "/nowhere")
        try sandbox.root.makeNode("fifo", S_IFIFO)
        #expect(try Self.findings("size", sandbox).map(\.message) == ["3 directories, 4 files, 3.0 MiB"])
        let access = try Self.findings("access", sandbox)
        #expect(access.map(\.verdict) == [.good])
        let directory = try Self.findings("directory", sandbox)
        #expect(directory.map(\.verdict) == [.good])
    }

    @Test("excluded paths are not counted")
    func exclusions() throws {
        let sandbox = try Sandbox(archive: "root/archive")
        try sandbox.root.makeDirectory("build/deep")
        try sandbox.root.write("build/deep/file", "x")
        try sandbox.root.write("kept", "x")
        try sandbox.root.write(".archiverignore", "build\n")
        #expect(try Self.findings("size", sandbox).map(\.message) == ["1 directory, 2 files, 7 B"])
    }

    @Test("unreadable paths are reported")
    func unreadable() async throws {
        try await asOrdinaryUser {
            let sandbox = try Sandbox()
            try sandbox.root.makeDirectory("closed/inner")
            try sandbox.root.write("open", "x")
            try sandbox.root.write("secret", "x")
            try sandbox.root.setPermissions("closed", 0)
            try sandbox.root.setPermissions("secret", 0o200)
            let finding = try #require(try Self.findings("access", sandbox).first)
            #expect(finding.verdict == .bad)
            #expect(finding.message == "2 paths cannot be read: closed is the first")
            #expect(finding.remedy != nil)
        }
    }

    @Test("a pseudo file system cannot be watched")
    func pseudoFileSystem() throws {
        let findings = try Self.findings("directory", archive: "/tmp/no-archive", directory: "/proc")
        #expect(findings.map(\.verdict) == [.bad])
        #expect(try Self.findings("size", archive: "/tmp/no-archive", directory: "/proc").isEmpty)
    }

    @Test("a missing directory is an error")
    func missingDirectory() throws {
        let sandbox = try Sandbox()
        ArchiverError.expect(.noSuchDirectory) {
            _ = try Doctor(archive: sandbox.archive.directory, directory: sandbox.root.full("no")).examine()
        }
    }

    /// Each directory is closed before its siblings are opened: a tree may have more directories than open files are
    /// allowed.
    @Test("the walk holds one open directory per level")
    func openDirectories() throws {
        let sandbox = try Sandbox()
        let root = try RootDirectory.open(sandbox.root.directory)
        for outer in 0..<40 {
            for inner in 0..<40 { try sandbox.root.makeDirectory("d\(outer)/e\(inner)") }
            try sandbox.root.write("d\(outer)/file", "x")
        }
        let survey = try TreeSurvey(of: root, ExclusionRules(), archive: sandbox.archive.directory)
        #expect(survey.directories == 1 + 40 + 1600)
        #expect(survey.files == 40)
    }

    /// A watched directory's watches are already among those in use.
    @Test("a directory that is watched already needs no further watches")
    func watchedDirectory() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("a/b/c")
        func needed() async throws -> String {
            try await onThread { try Self.findings("watches", sandbox).map(\.message).joined() }
        }
        #expect(try await needed().hasSuffix("4 more are needed"))
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        #expect(try await needed().hasSuffix("0 more are needed"))
        try await watcher.stop()
    }

    // MARK: The archive

    @Test("a private archive is good")
    func ownArchive() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        try sandbox.capture()
        let findings = try Self.findings("archive", sandbox)
        #expect(findings.map(\.verdict) == [.good])
        #expect(findings.map(\.message) == ["\(sandbox.archive.directory)"])
        #expect(try Self.findings("room", sandbox).map(\.verdict) == [.good])
        #expect(try Self.findings("clock", sandbox).allSatisfy { $0.verdict != .bad })
    }

    @Test("an archive that other users can access is bad")
    func accessByOthers() throws {
        let sandbox = try Sandbox()
        for permissions in [0o755, 0o710, 0o701] as [mode_t] {
            try Files(sandbox.archive.directory).setPermissions("", permissions)
            let finding = try #require(try Self.findings("archive", sandbox).first)
            #expect(finding.verdict == .bad)
            #expect(finding.remedy == "run 'chmod 700 \(sandbox.archive.directory)'")
        }
    }

    @Test("a missing archive will be created")
    func missingArchive() throws {
        let sandbox = try Sandbox()
        for path in ["new", "new/deep/archive"] as [FilePath] {
            let archive = sandbox.base.full(path)
            let findings = try Self.findings("archive", archive: archive)
            #expect(findings == [DoctorFinding("archive", .good, "\(archive) will be created")])
        }
        try sandbox.base.makeDirectory("empty")
        try sandbox.base.setPermissions("empty", 0o700)
        #expect(try Self.findings("archive", archive: sandbox.base.full("empty")).map(\.verdict) == [.good])
        #expect(!sandbox.base.exists("new"))
        #expect(try Files(sandbox.base.full("empty")).names() == [], "examining changes nothing")
    }

    @Test("a directory or file that is not an archive is reported")
    func notAnArchive() throws {
        let sandbox = try Sandbox()
        try sandbox.root.setPermissions("", 0o700)
        try sandbox.root.write("file", "x")
        let directory = try Self.findings("archive", archive: sandbox.root.directory)
        #expect(directory.contains { $0.verdict == .bad && $0.message.contains("is not an archive") })
        let file = try Self.findings("archive", archive: sandbox.root.full("file"))
        #expect(file.map(\.verdict) == [.bad])
        #expect(file.first?.message.contains("is not a directory") == true)
    }

    @Test("a place that cannot be written to is bad")
    func readOnlyPlace() async throws {
        try await asOrdinaryUser {
            let sandbox = try Sandbox()
            let archive = Files(sandbox.archive.directory)
            try archive.setPermissions("", 0o500)
            let own = try Self.findings("archive", sandbox)
            #expect(own.first?.message == "\(sandbox.archive.directory) cannot be written to")
            #expect(own.first?.verdict == .bad)
            let new = try Self.findings("archive", archive: sandbox.archive.directory.appending("new"))
            #expect(new.first?.verdict == .bad)
            try archive.setPermissions("", 0)
            let closed = try #require(try Self.findings("archive", sandbox).first)
            #expect(closed.verdict == .bad)
            #expect(closed.message.contains("permission denied"))
            try archive.setPermissions("", 0o700)
        }
    }

    @Test("a directory larger than the free space is bad")
    func room() throws {
        let sandbox = try Sandbox()
        let free = try FileSystem.freeBytes(of: Descriptor.open(sandbox.root.directory, O_RDONLY | O_DIRECTORY))
        // A hole takes no space.
        try sandbox.root.setSize("large", Int(free) + (1 << 40))
        let new = sandbox.base.full("new")
        let room = try Self.findings("room", archive: new, directory: sandbox.root.directory)
        #expect(room.map(\.verdict) == [.bad])
        #expect(room.first?.message.contains("the directory holds") == true)
        // A root that is already in the archive needs no space again.
        #expect(try Self.findings("room", sandbox).map(\.verdict) == [.good])
        let rules = ExclusionRules(largerThan: 1 << 30)
        #expect(
            try Self.findings("room", archive: new, directory: sandbox.root.directory, rules: rules).map(\.verdict)
                == [.good])
    }

    @Test("an archive on the same disk as the directory is noted")
    func oneDisk() throws {
        let sandbox = try Sandbox()
        #expect(try Self.findings("disk", sandbox).map(\.verdict) == [.note])
        #expect(try Self.findings("disk", archive: sandbox.archive.directory, directory: "/proc").isEmpty)
    }

    @Test("a latest snapshot dated in the future is bad")
    func futureSnapshot() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        let store = sandbox.archive.store
        var snapshot = try store.snapshot(try sandbox.capture().id)
        #expect(try Self.findings("clock", sandbox).allSatisfy { $0.verdict != .bad })
        snapshot.time = Timestamp.now.advanced(byNanoseconds: 3_600_000_000_000)
        _ = try store.beginCommit().commit(snapshot, base: nil)
        let finding = try #require(try Self.findings("clock", sandbox).first { $0.verdict == .bad })
        #expect(finding.message.contains("dated in the future"))
    }
}
