// The status of roots with a running watcher, with an ended one, and without any.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestTraits
import Testing

@Suite(.timeLimit(.minutes(60)), .blocking) struct StatusTests {
    @Test("the answer of a running watcher proves that it has captured everything") func runningWatcher() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.makeDirectory("d")
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory]) {
            // Settling would take longer than the test: the request must make the capture due.
            ($0.settings.settle, $0.settings.maxDelay) = (.seconds(600), .seconds(600))
        }
        try sandbox.root.write("d/file", "just now")
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        var status = try await onThread { try archive.status(of: path) }
        // On a busy machine, the capture may take longer than the watcher's limit for an answer.
        for _ in 1...10 where status.roots.first?.watcher?.isCurrent == false {
            status = try await onThread { try archive.status(of: path, patience: .seconds(1500)) }
        }
        #expect(status.isWell, "\(status)")
        let root = try #require(status.roots.first)
        #expect(root.isWatched)
        let answer = try #require(root.watcher)
        #expect(answer.process == getpid())
        #expect(answer.phase == .watching)
        #expect(answer.isCurrent)
        #expect(answer.backlog == 0)
        #expect(answer.directories.watched == 2)
        #expect(answer.lastEvent != nil)
        let latest = try #require(root.latest)
        #expect(try sandbox.archive.entry(at: .at("d/file"), in: latest) != nil)
        #expect(root.snapshotCount == 2)
        #expect(root.storedInLastDay > 0)
        #expect(status.storedBytes > 0)
        try await watcher.stop()
    }

    @Test("a root that is no longer watched is a finding") func unwatchedRoot() async throws {
        let sandbox = try Sandbox()
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        try await watcher.stop()
        let status = try sandbox.archive.status()
        #expect(!status.isWell)
        let root = try #require(status.roots.first)
        #expect(!root.isWatched)
        #expect(root.watcher == nil)
        #expect(root.lastWatched != nil)
        #expect(root.findings.map(\.message) == ["it is not being watched"])
    }

    /// Nobody has asked to watch it, so it is not reported, unless it is named.
    @Test("a root that was never watched is a finding only if it is named") func neverWatchedRoot() throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("file", "x")
        try sandbox.capture()
        #expect(try sandbox.archive.status().isWell)
        #expect(try !sandbox.archive.status(of: sandbox.root.directory).isWell)
    }

    @Test("an unknown directory is an error") func unknownDirectory() throws {
        let sandbox = try Sandbox()
        ArchiverError.expect(.notWatched) { _ = try sandbox.archive.status(of: sandbox.base.directory) }
        ArchiverError.expect(.notWatched) { _ = try sandbox.archive.audit(sandbox.root.directory) }
        #expect(try sandbox.archive.status().findings.map(\.message) == ["nothing is watched"])
    }

    @Test("unreadable files are findings until they can be read", .disabled(if: isRoot, "root can read every file"))
    func unreadableFiles() async throws {
        let sandbox = try Sandbox()
        try sandbox.root.write("secret", "x")
        try sandbox.root.write("open", "x")
        try sandbox.root.setPermissions("secret", 0)
        let watcher = try await Watcher(sandbox.archive, roots: [sandbox.root.directory])
        let (archive, path) = (sandbox.archive, sandbox.root.directory)
        let status = try await onThread { try archive.status(of: path) }
        #expect(status.roots.first?.watcher?.problems.map(\.path) == [try .at("secret")])
        #expect(!status.isWell)
        try sandbox.root.setPermissions("secret", 0o600)
        let later = try await onThread { try archive.status(of: path) }
        #expect(later.roots.first?.watcher?.problemCount == 0)
        #expect(later.isWell, "\(later.roots)")
        try await watcher.stop()
    }
}
