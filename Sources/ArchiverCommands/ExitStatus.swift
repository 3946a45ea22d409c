// All exit codes of the program.

internal import ArchiverKit
internal import Glibc

/// The exit status of the program.
enum ExitStatus: Int32, Error, CaseIterable {
    /// Success.
    case done = 0
    /// The command failed.
    case failed = 1
    /// The archive is damaged.
    case damaged = 2
    /// Some files could not be read or restored; the rest was done.
    case incomplete = 3
    /// There is no archive at the path.
    case noArchive = 10
    /// Another process holds a lock that the command needs.
    case locked = 11
    /// No identity can read it, or the passphrase is wrong.
    case wrongIdentity = 12
    /// The command line is wrong (EX_USAGE of sysexits.h).
    case usage = 64
    /// The user interrupted the program (128 + SIGINT, as in shells).
    case interrupted = 130

    /// The status for an error of the library.
    init(_ code: ArchiverError.Code) {
        self =
            switch code {
            case .damaged: .damaged
            case .noArchive, .notAnArchive: .noArchive
            case .cancelled: .interrupted
            case .wrongIdentity: .wrongIdentity
            case .locked, .inUse: .locked
            case .malformedSelector, .otherRoot, .overlappingHistories, .unsuitableSettings: .usage
            case .newerFormat, .readOnly, .noSpace, .noSuchSnapshot, .ambiguousSelector, .noSuchPath,
                .noSuchDirectory, .notDirectory, .unsuitableRoot, .targetNotEmpty, .notWatched, .nothingToUndo,
                .nothingToRedo, .unsuitable, .pinned, .notPinned, .noLabel, .noSuchNote, .lastSnapshot,
                .tooMuchToForget,
                .noSuchReplica, .replica, .permission, .system:
                .failed
            }
    }
}

/// The exit status of a program that archiver ran; archiver exits with the same status.
struct ChildStatus: Error {
    let code: Int32

    /// The status of `run` if archiver itself failed.
    static let ownFailure = ChildStatus(code: 125)
}
