// The place of an archive: room, access, file system, what is there already.

internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// What concerns the archive, which may not be there yet.
struct ArchiveExamination {
    private let path: FilePath
    /// The archive's directory, or the nearest one above that is there.
    private let place: FilePath
    /// Why the archive's directory cannot be opened although something is there.
    private let obstacle: ArchiverError?
    private let status: FileStatus
    private let free: UInt64
    private let fileSystem: FileSystem

    private var exists: Bool { place == path }

    init(_ archive: FilePath) throws {
        path = try RootDirectory.resolvedAsFarAsItExists(archive)
        let found = try ArchiveExamination.nearestDirectory(to: path)
        (place, status, obstacle) = (found.directory.path, found.directory.status, found.obstacle)
        free = try FileSystem.freeBytes(of: found.directory.directory.descriptor)
        fileSystem = try FileSystem.of(found.directory.directory.descriptor)
    }

    /// The directory at `path`, or the nearest one above that can be opened.
    ///
    /// - Returns: also why one below could not be, unless that is because it is not there.
    private static func nearestDirectory(
        to path: FilePath
    ) throws -> (directory: RootDirectory, obstacle: ArchiverError?) {
        var (place, obstacle) = (path, ArchiverError?.none)
        while true {
            do {
                return (try RootDirectory.open(place), obstacle)
            } catch {
                let error = ArchiverError(any: error)
                if error.code != .noSuchDirectory { obstacle = obstacle ?? error }
                guard place.removeLastComponent() else { throw error }
            }
        }
    }

    /// - Parameter survey: what is to be captured into it.
    func findings(for survey: TreeSurvey?) -> [Finding] {
        var findings = [access, room(for: survey)]
        if fileSystem.reach == .remote {
            findings.append(
                Finding(
                    "archive", .note, "\(path) is on \(fileSystem.name): every capture waits for the network",
                    remedy: "keep it on a local disk and copy it elsewhere"))
        }
        if let survey, survey.device == status.device {
            findings.append(
                Finding(
                    "disk", .note,
                    "the archive is on the same file system as the directory: if that breaks, both are lost",
                    remedy: "copy the archive elsewhere now and then, or keep it on another disk"))
        }
        if exists { findings += contents }
        return findings
    }

    private var access: Finding {
        let otherPlace = "choose another place with --archive"
        if let obstacle { return Finding("archive", .bad, obstacle.message, remedy: otherPlace) }
        if place.withPlatformString({ faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) }) != 0 {
            return Finding("archive", .bad, "\(place) cannot be written to", remedy: otherPlace)
        }
        if exists && status.permissions & 0o077 != 0 {
            return Finding(
                "archive", .bad, "others may look into \(path), which holds copies of all files",
                remedy: "run 'chmod 700 \(path)'")
        }
        return Finding("archive", .good, exists ? "\(path)" : "\(path) will be made")
    }

    private func room(for survey: TreeSurvey?) -> Finding {
        let text = "\(free >> 20) MiB are free for the archive"
        if let survey, !exists, survey.bytes > free {
            return Finding(
                "room", .bad, "\(text), and the directory holds \(survey.bytes >> 20) MiB",
                remedy: "free some space, choose another place with --archive, or leave something out with --exclude")
        }
        if free < 256 << 20 { return Finding("room", .bad, text, remedy: "free some space on that file system") }
        return Finding("room", .good, text)
    }

    /// What is wrong with what is in the archive's directory.
    private var contents: [Finding] {
        do {
            let archive = try Archive.open(path)
            var findings = archive.findings.map { finding in
                Finding("archive", finding.kind == .cut ? .note : .bad, finding.message, remedy: finding.remedy)
            }
            let newest = SnapshotQuery(newestFirst: true, limit: 1)
            if let latest = try archive.snapshots(newest).first, latest.time > .now {
                findings.append(
                    Finding(
                        "clock", .bad, "the latest snapshot is of a time to come: the clock was set back",
                        remedy: "set the clock right; what is captured before that time will not count as the latest"))
            }
            return findings
        } catch {
            // An empty directory becomes an archive.
            if error.code == .noArchive { return [] }
            return [Finding("archive", .bad, error.message, remedy: error.remedy)]
        }
    }
}
