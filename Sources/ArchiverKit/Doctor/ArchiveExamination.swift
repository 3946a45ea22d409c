// Examines an archive's location: space, access, file system, existing content.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import Glibc
internal import Roots
internal import SystemPackage

/// The examination of an archive that may not exist yet.
struct ArchiveExamination {
    private let path: FilePath
    /// The archive's directory, or the nearest existing one above it.
    private let place: FilePath
    /// Why the archive's directory, or one above it, exists but cannot be opened; nil if none is in the way.
    private let obstacle: ArchiverError?
    private let status: FileStatus
    private let free: UInt64
    private let total: UInt64
    private let fileSystem: FileSystem

    private var exists: Bool { place == path }

    init(_ archive: FilePath) throws {
        path = try RootDirectory.resolvedAsFarAsItExists(archive)
        let found = try ArchiveExamination.nearestDirectory(to: path)
        (place, status, obstacle) = (found.directory.path, found.directory.status, found.obstacle)
        free = try FileSystem.freeBytes(of: found.directory.directory.descriptor)
        total = try FileSystem.totalBytes(of: found.directory.directory.descriptor)
        fileSystem = try FileSystem.of(found.directory.directory.descriptor)
    }

    /// Returns the directory at `path`, or the nearest one above that can be opened.
    ///
    /// - Returns: the directory, and the reason why a lower one that exists could not be opened.
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

    /// Returns the findings.
    ///
    /// - Parameter survey: the directory to be captured into the archive.
    func findings(for survey: TreeSurvey?) -> [DoctorFinding] {
        var findings = [access, room(for: survey)]
        if fileSystem.reach == .remote {
            findings.append(
                DoctorFinding(
                    "archive", .note, "\(path) is on \(fileSystem.name): every capture must wait for the network",
                    remedy: "put it on a local disk, and copy it elsewhere"))
        }
        if let survey, survey.device == status.device {
            findings.append(
                DoctorFinding(
                    "disk", .note,
                    "the archive is on the same file system as the directory: if that fails, both are lost",
                    remedy: "copy the archive elsewhere regularly, or put it on another disk"))
        }
        if exists { findings += contents }
        return findings
    }

    private var access: DoctorFinding {
        let otherPlace = Advice.otherPlace.text
        if let obstacle { return DoctorFinding("archive", .bad, obstacle.message, remedy: otherPlace) }
        if place.withPlatformString({ faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) }) != 0 {
            return DoctorFinding("archive", .bad, "\(place) cannot be written to", remedy: otherPlace)
        }
        if exists && status.permissions & 0o077 != 0 {
            return DoctorFinding(
                "archive", .bad, "other users can read \(path), which holds copies of all files",
                remedy: "run 'chmod 700 \(path)'")
        }
        return DoctorFinding("archive", .good, exists ? "\(path)" : "\(path) will be created")
    }

    private func room(for survey: TreeSurvey?) -> DoctorFinding {
        let text = "\(ByteCount.text(free)) are free for the archive"
        if let survey, !exists, survey.bytes > free {
            return DoctorFinding(
                "room", .bad, "\(text), but the directory holds \(ByteCount.text(survey.bytes))",
                remedy: Advice.makeRoom.text)
        }
        if free < min(256 << 20, total / 20) {
            return DoctorFinding("room", .bad, text, remedy: "free some space on that file system")
        }
        return DoctorFinding("room", .good, text)
    }

    /// The findings about snapshots that were made with a wrong clock.
    private func times(in archive: Archive) throws(ArchiverError) -> [DoctorFinding] {
        for root in try archive.roots() {
            let query = SnapshotQuery(root: root, newestFirst: true, limit: 1)
            guard let latest = try archive.snapshots(query).first, latest.time > .now else { continue }
            return [
                DoctorFinding(
                    "clock", .bad, "the latest snapshot of \(root.path) is dated in the future",
                    remedy: Advice.setClock.text)
            ]
        }
        let count = try archive.snapshotsOutOfOrder(of: nil).count
        if count == 0 { return [] }
        return [
            DoctorFinding(
                "clock", .note,
                count == 1
                    ? "the time of 1 snapshot contradicts its order: the clock was wrong"
                    : "the times of \(count) snapshots contradict the order: the clock was wrong",
                remedy: Advice.orderIsRight.text)
        ]
    }

    /// The findings about the existing content of the archive's directory.
    private var contents: [DoctorFinding] {
        do {
            let archive = try Archive.open(path)
            let findings = archive.findings.map { finding in
                DoctorFinding("archive", finding.kind == .cut ? .note : .bad, finding.message, remedy: finding.remedy)
            }
            return findings + (try times(in: archive))
        } catch {
            // An empty directory becomes an archive.
            if error.code == .noArchive { return [] }
            return [DoctorFinding("archive", .bad, error.message, remedy: error.remedy)]
        }
    }
}
