// The place of an archive: room, access, file system, time of the latest snapshot.

internal import ArchiveStorage
internal import FileIO
internal import Glibc
internal import SystemPackage

/// What concerns the archive, which may not be there yet.
struct ArchiveExamination {
    private let path: FilePath
    /// The archive's directory, or the nearest one above that is there.
    private let place: FilePath
    private let status: FileStatus
    private let free: UInt64
    private let fileSystem: FileSystem

    private var exists: Bool { place == path }

    init(_ archive: FilePath) throws {
        path = try RootDirectory.resolvedAsFarAsItExists(archive)
        var place = path
        while (try? RootDirectory.open(place)) == nil, !place.components.isEmpty { place.removeLastComponent() }
        self.place = place
        let directory = try Descriptor.open(place, O_RDONLY | O_DIRECTORY)
        status = try FileStatus.read(directory)
        free = try FileSystem.freeBytes(of: directory)
        fileSystem = try FileSystem.of(directory)
    }

    /// - Parameter survey: what is to be captured into it.
    func findings(for survey: TreeSurvey?) throws -> [Finding] {
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
        if exists, let finding = try time() { findings.append(finding) }
        return findings
    }

    private var access: Finding {
        if place.withPlatformString({ Glibc.access($0, W_OK | X_OK) }) != 0 {
            return Finding(
                "archive", .bad, "\(place) cannot be written to", remedy: "choose another place with --archive")
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

    private func time() throws -> Finding? {
        guard let archive = try? Archive.open(path),
            let latest = try archive.snapshots(
                SnapshotQuery(newestFirst: true, limit: 1)
            ).first, latest.time > .now
        else { return nil }
        return Finding(
            "clock", .bad, "the latest snapshot is of a time to come: the clock was set back",
            remedy: "set the clock right; what is captured before that time will not count as the latest")
    }
}
