// What can go wrong, as users of the library and of the program meet it.

package import ArchiveStorage
package import FileIO
public import SystemPackage

/// Something archiver was asked to do failed: what, why, and what to do about it.
public struct ArchiverError: Error, Sendable {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable {
        /// There is no archive at the path.
        case noArchive
        /// The path is something else than an archive.
        case notAnArchive
        /// The archive was made by a newer version of the program.
        case newerFormat
        /// Bytes of the archive are damaged or missing.
        case damaged
        /// The archive cannot be written to.
        case readOnly
        /// A disk is full.
        case noSpace
        /// Another process uses the archive in a way that excludes this one.
        case inUse
        /// Another process watches the root.
        case locked
        /// No process watches the root.
        case notWatched
        /// A selector is not written as selectors are.
        case malformedSelector
        /// A selector names no snapshot and no saved state.
        case noSuchSnapshot
        /// A selector names several snapshots or saved states.
        case ambiguousSelector
        /// A snapshot holds nothing at the path.
        case noSuchPath
        /// There is no such directory.
        case noSuchDirectory
        /// The path is not a directory.
        case notDirectory
        /// The directory cannot be a root: it belongs to the archive or to the kernel.
        case unsuitableRoot
        /// What is asked for cannot be done with it: a file that is too large, or no text.
        case unsuitable
        /// What is to be set contradicts itself.
        case unsuitableSettings
        /// What is to be forgotten is pinned.
        case pinned
        /// What is to be unpinned is not pinned.
        case notPinned
        /// What is to lose its label has none.
        case noLabel
        /// Far more would be forgotten than was to be expected.
        case tooMuchToForget
        /// A root would have no snapshot left.
        case lastSnapshot
        /// A snapshot is of another root than the one that it would be put into.
        case otherRoot
        /// A directory to restore into holds something already, or there is a file where one is to be made.
        case targetNotEmpty
        /// No operation on the root, or not as many as are asked for, can be undone.
        case nothingToUndo
        /// No undo of the root, or not as many as are asked for, can be redone.
        case nothingToRedo
        /// Somebody asked for an early end.
        case cancelled
        /// The system denies access.
        case permission
        /// The system refused for another reason.
        case system
    }

    public let code: Code
    /// What happened, in one line without its full stop; names the thing concerned.
    public let message: String
    /// What to do about it, in one line.
    public let remedy: String?
    /// The file or directory concerned.
    public let path: FilePath?
    /// What an ambiguous selector may mean.
    public let candidates: [Selected]

    /// An error with the words that a user will read.
    public init(
        _ code: Code, _ message: String, remedy: String? = nil, path: FilePath? = nil,
        candidates: [Selected] = []
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.path = path
        self.candidates = candidates
    }

    /// An archive that was opened is not at its path any more.
    static func archiveGone(_ archive: FilePath) -> ArchiverError {
        ArchiverError(
            .noArchive, "the archive \(archive) is not there any more", remedy: "is its disk mounted?", path: archive)
    }

    package init(_ error: StorageError) {
        let code: Code =
            switch error.code {
            case .noArchive: .noArchive
            case .notAnArchive: .notAnArchive
            case .newerFormat: .newerFormat
            case .damaged: .damaged
            case .readOnly: .readOnly
            case .inUse: .inUse
            case .noSpace: .noSpace
            case .cancelled: .cancelled
            case .system: .system
            }
        self.init(code, error.message, remedy: error.remedy, path: error.path)
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
        self.init(code, error.description, remedy: error.remedy, path: error.path)
    }

    package init(any error: any Error) {
        switch error {
        case let error as ArchiverError: self = error
        case let error as StorageError: self.init(error)
        case let error as FileError: self.init(error)
        default: self.init(.system, "\(error)")
        }
    }
}

extension ArchiverError: CustomStringConvertible {
    public var description: String { message }
}

/// Runs `body` and gives its failures the shape that users of the library meet.
package func facing<Result: ~Copyable>(_ body: () throws -> Result) throws(ArchiverError) -> Result {
    do { return try body() } catch { throw ArchiverError(any: error) }
}
