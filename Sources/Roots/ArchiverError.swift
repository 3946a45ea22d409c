// The errors that users of the library and of the program see.

package import ArchiveStorage
package import FileIO
public import SystemPackage

/// An operation failed: what happened, why, and what to do about it.
public struct ArchiverError: Error, Sendable {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable {
        /// There is no archive at the path.
        case noArchive
        /// The path is not an archive.
        case notAnArchive
        /// The archive was made by a newer version of the program.
        case newerFormat
        /// Bytes of the archive are damaged or missing.
        case damaged
        /// The archive cannot be written to.
        case readOnly
        /// A disk is full.
        case noSpace
        /// Another process uses the archive, which rules out this operation.
        case inUse
        /// Another process watches or captures the root.
        case locked
        /// No process watches the root.
        case notWatched
        /// The syntax of a selector, a label or a pattern is wrong.
        case malformedSelector
        /// A selector matches no snapshot and no saved state.
        case noSuchSnapshot
        /// A selector matches several snapshots or saved states.
        case ambiguousSelector
        /// A snapshot has no entry at the path.
        case noSuchPath
        /// There is no such directory.
        case noSuchDirectory
        /// The path is not a directory.
        case notDirectory
        /// The directory cannot be a root: it belongs to the archive or to the kernel.
        case unsuitableRoot
        /// The file or value does not allow the request, for example because it is too large or not text.
        case unsuitable
        /// Settings are invalid or contradict each other.
        case unsuitableSettings
        /// A snapshot or saved state to forget is pinned.
        case pinned
        /// A snapshot or saved state to unpin is not pinned.
        case notPinned
        /// A snapshot or saved state has no label to remove.
        case noLabel
        /// There is no such note.
        case noSuchNote
        /// More would be forgotten than is plausible.
        case tooMuchToForget
        /// A root would have no snapshot left.
        case lastSnapshot
        /// Two roots to be joined have snapshots of the same span of time.
        case overlappingHistories
        /// A snapshot belongs to another root than the one to restore.
        case otherRoot
        /// The directory to restore into is not empty, or a file exists where one would be created.
        case targetNotEmpty
        /// The root has no operation to undo, or fewer than requested.
        case nothingToUndo
        /// The root has no undo to redo, or fewer than requested.
        case nothingToRedo
        /// There is no replica of that name.
        case noSuchReplica
        /// The store of a replica cannot be reached or used, or what it holds is not what it should hold.
        case replica
        /// No identity at hand can read it, or the passphrase is wrong.
        case wrongIdentity
        /// The operation was cancelled.
        case cancelled
        /// The system denied access.
        case permission
        /// The system reported another error.
        case system
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, in one line without a full stop, naming the object concerned.
    public let message: String
    /// What to do about it, in one line.
    public let remedy: String?
    /// The file or directory concerned.
    public let path: FilePath?
    /// What an ambiguous selector could mean.
    public let candidates: [Selection]
    /// The error that led to this one, such as a `FileError` with the system's reason; nil if there is none.
    public let cause: (any Error)?

    /// An error with the texts that a user will read.
    public init(
        _ code: Code, _ message: String, remedy: String? = nil, path: FilePath? = nil,
        candidates: [Selection] = [], cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.path = path
        self.candidates = candidates
        self.cause = cause
    }

    package init(_ error: StorageError) {
        let code: Code =
            switch error.code {
            case .noArchive: .noArchive
            case .notAnArchive: .notAnArchive
            case .newerFormat: .newerFormat
            case .damaged: .damaged
            case .away: .replica
            case .readOnly: .readOnly
            case .inUse: .inUse
            case .noSpace: .noSpace
            case .cancelled: .cancelled
            case .system: .system
            }
        self.init(code, error.message, remedy: error.remedy, path: error.path, cause: error.cause)
    }

    package init(_ error: FileError) {
        let code: Code =
            switch error.code {
            case .noSpace, .diskQuotaExceeded: .noSpace
            case .permissionDenied, .notPermitted, .readOnlyFileSystem: .permission
            case .noSuchFileOrDirectory: .noSuchDirectory
            case .notDirectory: .notDirectory
            default: .system
            }
        self.init(code, error.description, remedy: error.remedy, path: error.path, cause: error)
    }

    package init(any error: any Error) {
        switch error {
        case let error as ArchiverError: self = error
        case let error as StorageError: self.init(error)
        case let error as FileError: self.init(error)
        default: self.init(.system, "\(error)", cause: error)
        }
    }
}

extension ArchiverError: CustomStringConvertible {
    public var description: String { message }
}

/// Runs `body` and converts its errors to `ArchiverError`.
package func facing<Result: ~Copyable>(_ body: () throws -> Result) throws(ArchiverError) -> Result {
    do { return try body() } catch { throw ArchiverError(any: error) }
}
