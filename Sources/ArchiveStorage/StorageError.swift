// Errors of an archive on disk: what failed, where, and how to fix it.

package import ArchiveFormat
public import FileIO
public import SystemPackage

/// An archive could not be opened, read or written.
public struct StorageError: Error, Sendable {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// There is no archive at the path.
        case noArchive
        /// The path is not an archive.
        case notAnArchive
        /// A newer version of the program made the archive.
        case newerFormat
        /// Bytes of the archive are damaged or missing.
        case damaged
        /// A segment is only in a replica that cannot be read now: nothing is lost.
        case away
        /// The archive cannot be written to.
        case readOnly
        /// Another process uses the archive in a way that excludes this use.
        case inUse
        /// The disk is full.
        case noSpace
        /// The work was cancelled.
        case cancelled
        /// The system refused for another reason.
        case system
    }

    public let code: Code
    /// The file or directory concerned.
    public let path: FilePath
    /// What happened, as a sentence without a full stop.
    public let message: String
    /// What the user can do about it.
    public let remedy: String?
    /// The system's reason; nil if no system call failed.
    public let cause: FileError?

    package init(
        _ code: Code, _ path: FilePath, _ message: String, remedy: String? = nil, cause: FileError? = nil
    ) {
        self.code = code
        self.path = path
        self.message = message
        self.remedy = remedy
        self.cause = cause
    }

    /// A failed system call on a file of the archive.
    package init(_ error: FileError) {
        let code: Code =
            switch error.code {
            case .noSpace, .diskQuotaExceeded: .noSpace
            case .readOnlyFileSystem, .permissionDenied, .notPermitted: .readOnly
            default: .system
            }
        let isRefusal = error.code == .permissionDenied || error.code == .notPermitted
        let remedy = isRefusal ? StorageError.remedyForRefusal : error.remedy
        self.init(code, error.path, error.description, remedy: remedy, cause: error)
    }

    /// What to do if a file of the archive may not be used.
    static let remedyForRefusal = "run as its owner, or give all files of the archive to one user"

    /// Damage in a block of a segment.
    package static func damaged(_ segment: FilePath, offset: Int, _ reason: FormatError) -> StorageError {
        StorageError(
            .damaged, segment, "block at byte \(offset) of \(segment): \(reason)",
            remedy: Advice.seeWhatIsGoodElsewhere.text)
    }

    /// A block of a later program.
    package static func later(_ segment: FilePath, offset: Int, _ obstacle: String) -> StorageError {
        StorageError(
            .newerFormat, segment,
            "block at byte \(offset) of \(segment) \(obstacle), which this program cannot read",
            remedy: "use a newer archiver")
    }

    /// An archive that needs a feature of later programs.
    static func later(_ archive: FilePath, _ feature: String, isReading: Bool) -> StorageError {
        StorageError(
            .newerFormat, archive,
            "the archive \(archive) needs the feature '\(feature)', which this program does not know: it cannot be "
                + (isReading ? "read" : "changed"),
            remedy: "use a newer archiver")
    }

    /// Whether bytes of the archive are wrong, lost or unknown to this program.
    ///
    /// Any other error says nothing about them.
    package var isAboutBytes: Bool { code == .damaged || code == .newerFormat }

    /// The message as a sentence that begins with `name`.
    package func message(about name: String) -> String {
        message.hasPrefix(name) ? message : "\(name): \(message)"
    }

    /// The error for an open archive that is no longer the one at its path.
    package static func replaced(_ archive: FilePath) -> StorageError {
        StorageError(
            .noArchive, archive, "the archive \(archive) was removed or replaced while it was in use",
            remedy: Advice.putBack.text)
    }

    /// The error for a chunk that no segment has.
    package static func missing(_ id: some CustomStringConvertible, in archive: FilePath) -> StorageError {
        StorageError(
            .damaged, archive, "chunk \(id) is missing from \(archive)",
            remedy: Advice.rebuildAndCheck.text)
    }
}

extension StorageError: CustomStringConvertible {
    public var description: String { message }
}

/// Runs `body`, turning a failed system call into a `StorageError`.
package func storing<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(StorageError) -> Result {
    do { return try body() } catch { throw StorageError(error) }
}
