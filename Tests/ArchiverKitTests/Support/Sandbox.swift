// A directory for one test, with a root and its archive.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A root and an archive in a temporary directory, which is removed at the end.
final class Sandbox: Sendable {
    /// The temporary directory, for files outside the root and the archive.
    let base: Files
    let root: Files
    let archive: Archive

    /// - Parameters:
    ///   - root: the root's path below the temporary directory; it is created.
    ///   - archive: the archive's path below the temporary directory.
    ///   - base: an existing directory to use instead of a temporary one.
    init(root: FilePath = "root", archive: FilePath = "archive", in base: FilePath? = nil) throws {
        self.base = Files(try base ?? TemporaryDirectory.create())
        self.root = Files(self.base.directory.pushing(root))
        try self.base.makeDirectory(root)
        self.archive = try Archive.open(self.base.directory.pushing(archive), creating: true)
    }

    deinit { TemporaryDirectory.remove(base.directory) }

    /// A second archive object of the same archive, as another process would have.
    func reopened() throws -> Archive { try Archive.open(archive.directory) }

    /// Captures the root, which must differ from its latest snapshot.
    @discardableResult
    func capture(
        label: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ListedSnapshot {
        let result = try archive.capture(root.directory, CaptureOptions(label: label))
        #expect(result.problemCount == 0, "\(result.problems)", sourceLocation: sourceLocation)
        return try #require(result.snapshot, "no change was found", sourceLocation: sourceLocation)
    }

    /// Restores `snapshot` into a new directory and lists that.
    func restored(
        _ snapshot: ListedSnapshot, path: RelativePath = .root, ignoringSockets: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> TreeListing {
        let target = base.directory.appending("restored-\(UInt64.random(in: 0...UInt64.max))")
        let result = try archive.restore(snapshot, RestoreOptions(path: path, target: target))
        if !ignoringSockets { #expect(result.warnings == [], sourceLocation: sourceLocation) }
        let listing = try TreeListing(of: target)
        try Files(target).removeAll()
        return listing
    }

    /// Captures the root, and checks that a restore elsewhere and a restore in place after deleting everything are
    /// exact.
    ///
    /// - Parameter build: creates the content of the root.
    func expectRoundTrip(
        sourceLocation: SourceLocation = #_sourceLocation, _ build: (Files) throws -> Void
    ) throws {
        try build(root)
        let before = try TreeListing(of: root.directory)
        let snapshot = try capture(sourceLocation: sourceLocation)
        let elsewhere = try restored(snapshot, sourceLocation: sourceLocation)
        elsewhere.expect(equals: before, "restored elsewhere", sourceLocation: sourceLocation)
        try root.removeAll(keepingDirectory: true)
        let result = try archive.restore(snapshot)
        #expect(result.warnings == [], sourceLocation: sourceLocation)
        try expectRoot(equals: before, "restored in place", sourceLocation: sourceLocation)
        try expectCleanArchive(sourceLocation: sourceLocation)
    }

    func expectRoot(
        equals listing: TreeListing, _ comment: @autoclosure () -> String = "the root",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try TreeListing(of: root.directory).expect(equals: listing, comment(), sourceLocation: sourceLocation)
    }

    func expectCleanArchive(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let result = try archive.check(data: true)
        #expect(result.findings == [], sourceLocation: sourceLocation)
        #expect(result.goodSnapshots == result.snapshots, sourceLocation: sourceLocation)
    }
}

extension ArchiverError {
    /// Checks that `body` throws an `ArchiverError` with `code`.
    @discardableResult
    static func expect(
        _ code: Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) -> ArchiverError? {
        let error = #expect(throws: ArchiverError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        return error
    }
}

extension RelativePath {
    /// A path from the test's own text, known to be valid.
    static func at(_ path: FilePath, sourceLocation: SourceLocation = #_sourceLocation) throws -> RelativePath {
        let bytes = path.withPlatformString { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
        return try #require(RelativePath(bytes.map { UInt8(bitPattern: $0) }), sourceLocation: sourceLocation)
    }
}
