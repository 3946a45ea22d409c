// Reads one file-system object into an entry.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Makes entries of objects; one reader a thread.
final class EntryReader {
    private let files: FileReader
    /// The file system of the root.
    private let device: UInt64

    /// A file that changes while it is read is read this often before it is called unstable.
    private static let attempts = 3

    /// - Parameter device: the file system of the root.
    init(_ files: FileReader, device: UInt64) {
        self.files = files
        self.device = device
    }

    /// Reads the object that the walk came upon.
    func read(_ suspect: Suspect) throws -> ScanChange {
        do {
            let change = suspect.status.kind == .file ? try readFile(suspect) : try readOther(suspect, suspect.status)
            return change.keepingLimits()
        } catch let error as FileError {
            if error.isOfProcess { throw error }
            if error.meansAbsence { return vanished(suspect) }
            if hasBeenReplaced(suspect) {
                let problem = Problem(
                    path: suspect.path, reason: .unstable, detail: "it was replaced while it was read")
                return ScanChange(old: suspect.old, new: known(suspect), problem: problem)
            }
            // One object that cannot be read must not stop the capture: what was known of it stays.
            let problem = Problem(path: suspect.path, reason: .unreadable, detail: error.code.description)
            return ScanChange(old: suspect.old, new: known(suspect), problem: problem)
        }
    }

    /// Whether another kind of object has come to stand at the path, which fails in ways of its own.
    private func hasBeenReplaced(_ suspect: Suspect) -> Bool {
        do throws(FileError) {
            let now = try FileStatus.read(suspect.name, in: suspect.directory.descriptor, path: suspect.path)
            return now?.kind != suspect.status.kind
        } catch {
            return false
        }
    }

    /// What is captured of an object that is no longer there.
    private func vanished(_ suspect: Suspect) -> ScanChange {
        ScanChange(old: suspect.old, new: suspect.status.kind == .directory ? known(suspect) : nil)
    }

    /// What is known of an object that cannot be read: what was captured before.
    ///
    /// A directory is as it was when the walk came by: that has found its files, which must have a directory.
    private func known(_ suspect: Suspect) -> Entry? {
        guard suspect.status.kind == .directory else { return suspect.old }
        return entry(
            suspect.path, suspect.status, content: .none, attributes: suspect.old?.attributes ?? [], isSettled: false,
            isUnstable: false)
    }

    private func readFile(_ suspect: Suspect) throws -> ScanChange {
        if let entry = try quickAttempt(suspect) { return ScanChange(old: suspect.old, new: entry) }
        for _ in 1..<EntryReader.attempts {
            if let entry = try attempt(suspect, isLast: false) { return ScanChange(old: suspect.old, new: entry) }
        }
        guard let entry = try attempt(suspect, isLast: true) else {
            let problem = Problem(
                path: suspect.path, reason: .unstable, detail: "it became shorter each time it was read")
            return ScanChange(old: suspect.old, new: suspect.old, problem: problem)
        }
        guard entry.isUnstable else { return ScanChange(old: suspect.old, new: entry) }
        let problem = Problem(path: suspect.path, reason: .unstable, detail: "it kept changing while it was read")
        return ScanChange(old: suspect.old, new: entry, problem: problem)
    }

    /// Reads a file once, with the walk's own look as the one before the reading: a system call less.
    ///
    /// The status after the reading must have the time of change that the walk saw. That time is settled when the reading
    /// begins, so whatever changed the file after this moment would have left another time, however long ago the walk
    /// came by. What changed it between the walk and this moment without another time is in what was read, and in the
    /// status after the reading, which is the one that is kept.
    ///
    /// - Returns: nil where it is not the file that the walk saw, or its time does not tell enough.
    private func quickAttempt(_ suspect: Suspect) throws -> Entry? {
        let before = suspect.status
        let path = suspect.path
        guard Settling.isSettled(before.changed) else { return nil }
        let file = try suspect.directory.descriptor.openForReading(suspect.name, O_NONBLOCK, path: path)
        let content: Content?
        do {
            content = try files.read(file, before, old: suspect.old?.content, path: path)
        } catch is FileError {
            // Something else may have taken the file's place; a closer look tells.
            return nil
        }
        guard let content else { return nil }
        let attributes = try ExtendedAttributes.read(of: file, path: FilePath(path))
        let after = try FileStatus.read(file, path: path)
        guard after.kind == .file, after.isSameObject(as: before), after.changed == before.changed,
            after.size == before.size
        else { return nil }
        return entry(path, after, content: content, attributes: attributes, isSettled: true, isUnstable: false)
    }

    /// Reads a file once.
    ///
    /// - Parameter isLast: whether to take a file that changed meanwhile, marked as unstable.
    /// - Returns: nil where the file changed meanwhile.
    private func attempt(_ suspect: Suspect, isLast: Bool) throws -> Entry? {
        let path = suspect.path
        // O_NONBLOCK: a FIFO may have taken the file's place, and nobody may be writing to it.
        let file = try suspect.directory.descriptor.openForReading(suspect.name, O_NONBLOCK, path: path)
        let before = try settledStatus(of: file, path)
        let isSettled = Settling.isSettled(before.changed)
        guard before.kind == .file else { return isLast ? try readOther(suspect, before).new : nil }
        guard let content = try files.read(file, before, old: suspect.old?.content, path: path) else { return nil }
        let attributes = try ExtendedAttributes.read(of: file, path: FilePath(path))
        let after = try FileStatus.read(file, path: path)
        let isStable = after.changed == before.changed && after.size == before.size
        guard isStable || isLast else { return nil }
        return entry(
            path, before, content: content, attributes: attributes, isSettled: isSettled, isUnstable: !isStable)
    }

    /// The status of an open file; waits for a moment where it changed just now, so that what a change during the reading
    /// leaves behind is another time.
    private func settledStatus(of file: borrowing Descriptor, _ path: RelativePath) throws(FileError) -> FileStatus {
        let status = try FileStatus.read(file, path: path)
        if status.kind != .file { return status }
        let wait = Settling.wait(for: status.changed)
        if wait == 0 { return status }
        usleep(UInt32(wait / 1000) + 1)
        return try FileStatus.read(file, path: path)
    }

    private func readOther(_ suspect: Suspect, _ status: FileStatus) throws -> ScanChange {
        let directory = suspect.directory
        var content = Content.none
        if status.kind == .symbolicLink {
            content = .linkTarget(
                try directory.descriptor.readLink(suspect.name, path: FilePath(suspect.path)))
        }
        let attributes = try ExtendedAttributes.read(
            of: suspect.name, in: directory.descriptor, path: FilePath(suspect.path))
        let new = entry(
            suspect.path, status, content: content, attributes: attributes,
            isSettled: Settling.isSettled(status.changed), isUnstable: false)
        // A change of what is in a directory stamps both times with the same instant.
        return ScanChange(old: suspect.old, new: new, isTimeSet: status.modified != status.changed)
    }

    private func entry(
        _ path: RelativePath, _ status: FileStatus, content: Content, attributes: [ExtendedAttribute],
        isSettled: Bool, isUnstable: Bool
    ) -> Entry {
        let signature = Signature(inode: status.inode, changed: status.changed)
        return Entry(
            path: path,
            kind: status.kind,
            permissions: status.permissions,
            owner: status.owner,
            group: status.group,
            modified: status.modified,
            content: content,
            device: status.specialDevice,
            linkGroup: status.kind != .directory && status.links > 1 ? status.linkGroup(besides: device) : nil,
            attributes: attributes,
            signature: isSettled && !isUnstable ? signature : nil,
            isUnstable: isUnstable)
    }
}
