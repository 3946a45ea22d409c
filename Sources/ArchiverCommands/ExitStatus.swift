// The program's exit codes, all of them, in one place.

internal import ArchiverKit
internal import Glibc

/// What the program tells its caller when it ends.
enum ExitStatus: Int32, Error, CaseIterable {
    /// All was done.
    case done = 0
    /// Something could not be done.
    case failed = 1
    /// The archive is damaged.
    case damaged = 2
    /// Done, but some files could not be read or restored.
    case incomplete = 3
    /// There is no archive there.
    case noArchive = 10
    /// Another process holds what is needed.
    case locked = 11
    /// The passphrase is wrong.
    case wrongPassphrase = 12
    /// The command line makes no sense (EX_USAGE of sysexits.h).
    case usage = 64
    /// The user interrupted the program (128 + SIGINT, as shells have it).
    case interrupted = 130

    /// The status for an error of the library.
    init(_ code: ArchiverError.Code) {
        self =
            switch code {
            case .damaged: .damaged
            case .noArchive, .notAnArchive: .noArchive
            case .cancelled: .interrupted
            case .locked, .inUse: .locked
            case .malformedSelector, .otherRoot, .unsuitableSettings: .usage
            case .newerFormat, .readOnly, .noSpace, .noSuchSnapshot, .ambiguousSelector, .noSuchPath,
                .noSuchDirectory, .notDirectory, .unsuitableRoot, .targetNotEmpty, .notWatched, .nothingToUndo,
                .nothingToRedo, .unsuitable, .pinned, .notPinned, .noLabel, .lastSnapshot, .tooMuchToForget,
                .permission, .system:
                .failed
            }
    }
}

/// The exit status of a program that archiver ran, which becomes its own.
struct ChildStatus: Error {
    let code: Int32

    /// What `run` ends with where archiver itself could not do its part.
    static let ownFailure = ChildStatus(code: 125)
}
