// The problems of a restore, and which failures affect one path only.

internal import ArchiveStorage
public import FileIO
internal import SystemPackage

/// A path that could not be restored; the restore continued with the others.
public struct RestoreProblem: Error, Sendable, Hashable {
    /// The path below the destination.
    public let path: RelativePath
    /// What failed, in one line without a full stop.
    public let message: String
    /// What the user can do about it, in one line.
    public let remedy: String?
    /// Whether bytes of the archive are damaged or missing.
    public let isDamage: Bool
    /// Whether everything below the path failed too.
    let isOfDirectory: Bool

    package init(
        _ path: RelativePath, _ message: String, remedy: String? = nil, isDamage: Bool = false,
        isOfDirectory: Bool = false
    ) {
        self.path = path
        self.message = message
        self.remedy = remedy
        self.isDamage = isDamage
        self.isOfDirectory = isOfDirectory
    }

    /// The problem of `path` that `error` describes; nil if the error affects the whole restore.
    ///
    /// - Parameter isFullDiskOfPath: whether a full disk affects the path only, because others may need no more room.
    package init?(
        _ path: RelativePath, _ error: any Error, isOfDirectory: Bool = false, isFullDiskOfPath: Bool = false
    ) {
        switch error {
        case let problem as RestoreProblem:
            self = problem
        case let error as StorageError where error.isAboutBytes:
            self.init(
                path, "\(path) cannot be restored: \(error.message)", remedy: error.remedy, isDamage: true,
                isOfDirectory: isOfDirectory)
        case let error as FileError
        where !RestoreProblem.concernsAll(error.code) || isFullDiskOfPath && error.code.meansFullDisk:
            self.init(
                path, error.description, remedy: RestoreProblem.remedy(error.code), isOfDirectory: isOfDirectory)
        default:
            return nil
        }
    }

    /// The message and the remedy in one line.
    package var text: String { remedy.map { "\(message) — \($0)" } ?? message }

    /// Whether the next path would fail in the same way.
    private static func concernsAll(_ code: Errno) -> Bool {
        code.meansFullDisk || [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(code)
    }

    private static func remedy(_ code: Errno) -> String {
        switch code {
        case .notPermitted:
            "remove its protection ('lsattr' shows it, 'chattr -ia' removes it) or run as its owner, and restore again"
        case .permissionDenied: "restore again as a user who is allowed to change it"
        case .noSpace, .diskQuotaExceeded: "free space on its disk, and restore again"
        case .readOnlyFileSystem: "mount that file system writable, and restore again"
        case .resourceBusy: "unmount it, or end the program that uses it, and restore again"
        case .textFileBusy: "end the program that runs it, and restore again"
        case .directoryNotEmpty: "move its content away, and restore again"
        case .tooManySymbolicLinkLevels, .notDirectory, .noSuchFileOrDirectory, .fileExists:
            "another object has replaced it: restore again"
        case .fileTooLarge, .fileNameTooLong:
            Advice.otherFileSystem.text
        default: "fix the cause, and restore again"
        }
    }
}

extension Errno {
    /// Whether the disk, or the user's share of it, has no room left.
    var meansFullDisk: Bool { self == .noSpace || self == .diskQuotaExceeded }
}
