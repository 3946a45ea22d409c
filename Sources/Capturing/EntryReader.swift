// Reads one file-system object into an entry.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// Makes entries from objects; each thread has its own reader.
final class EntryReader {
    private let files: FileReader
    /// The file system of the root.
    private let device: UInt64
    /// Whether this machine's clock sets the times of that file system.
    private let isLocal: Bool

    /// How often a file that keeps changing is read before it is marked as unstable.
    private static let attempts = 3

    /// - Parameters:
    ///   - device: the file system of the root.
    ///   - isLocal: whether this machine's clock sets the times of that file system.
    init(_ files: FileReader, device: UInt64, isLocal: Bool) {
        self.files = files
        self.device = device
        self.isLocal = isLocal
    }

    /// Whether a further change of an object would show in its change time.
    private func isSettled(_ status: FileStatus) -> Bool {
        Settling.isSettled(status.changed, isOurClock: isOurClock(status))
    }

    private func isOurClock(_ status: FileStatus) -> Bool { isLocal && status.device == device }

    /// Reads an object that the walk found.
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
            // One unreadable object must not stop the capture: its old entry stays.
            let problem = Problem(path: suspect.path, reason: .unreadable, detail: error.code.description)
            return ScanChange(old: suspect.old, new: known(suspect), problem: problem)
        }
    }

    /// Whether an object of another kind has replaced the one at the path, which explains the error.
    private func hasBeenReplaced(_ suspect: Suspect) -> Bool {
        do throws(FileError) {
            let now = try FileStatus.read(suspect.name, in: suspect.directory.descriptor, path: suspect.path)
            return now?.kind != suspect.status.kind
        } catch {
            return false
        }
    }

    /// The change for an object that has vanished.
    private func vanished(_ suspect: Suspect) -> ScanChange {
        ScanChange(old: suspect.old, new: suspect.status.kind == .directory ? known(suspect) : nil)
    }

    /// The entry for an object that cannot be read: the one captured before.
    ///
    /// A directory gets an entry from the walk's status: the walk has found files in it, and these need their
    /// directory.
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

    /// Reads a file once and uses the walk's status as the one before the reading, which saves a system call.
    ///
    /// The status after the reading must have the change time that the walk saw. That time is settled when the reading
    /// begins, so a later change would set another time, however long ago the walk read the status. A change between
    /// the walk and the reading that left the time as it was is included in the content and in the status after the
    /// reading, which the entry is made from.
    ///
    /// - Returns: nil if it is no longer the file that the walk saw, or its change time is not settled.
    private func quickAttempt(_ suspect: Suspect) throws -> Entry? {
        let before = suspect.status
        let path = suspect.path
        guard isSettled(before) else { return nil }
        let file = try suspect.directory.descriptor.openForReading(suspect.name, O_NONBLOCK, path: path)
        let attributes = try ExtendedAttributes.read(of: file, path: FilePath(path))
        let content: Content?
        do {
            content = try files.read(
                file, before, hasAttributes: !attributes.isEmpty, old: suspect.old?.content, path: path)
        } catch is FileError {
            // Another object may have replaced the file; the full attempt finds out.
            return nil
        }
        guard let content else { return nil }
        let after = try FileStatus.read(file, path: path)
        guard after.kind == .file, after.isSameObject(as: before), after.changed == before.changed,
            after.size == before.size
        else { return nil }
        return entry(
            path, after, content: content, attributes: try stored(attributes, suspect.old), isSettled: true,
            isUnstable: false)
    }

    /// Reads a file once.
    ///
    /// - Parameter isLast: whether to accept a file that changed during the reading, marked as unstable.
    /// - Returns: nil if the file changed during the reading.
    private func attempt(_ suspect: Suspect, isLast: Bool) throws -> Entry? {
        let path = suspect.path
        // O_NONBLOCK: a FIFO may have replaced the file, and opening it would wait for a writer.
        let file = try suspect.directory.descriptor.openForReading(suspect.name, O_NONBLOCK, path: path)
        let before = try settledStatus(of: file, path)
        let isSettled = isSettled(before)
        guard before.kind == .file else { return isLast ? try readOther(suspect, before).new : nil }
        let attributes = try ExtendedAttributes.read(of: file, path: FilePath(path))
        guard
            let content = try files.read(
                file, before, hasAttributes: !attributes.isEmpty, old: suspect.old?.content, path: path)
        else { return nil }
        let after = try FileStatus.read(file, path: path)
        let isStable = after.changed == before.changed && after.size == before.size
        guard isStable || isLast else { return nil }
        return entry(
            path, before, content: content, attributes: try stored(attributes, suspect.old), isSettled: isSettled,
            isUnstable: !isStable)
    }

    /// Returns the status of an open file.
    ///
    /// Waits a moment if the file has just changed, so that a change during the reading sets another time.
    private func settledStatus(of file: borrowing Descriptor, _ path: RelativePath) throws(FileError) -> FileStatus {
        let status = try FileStatus.read(file, path: path)
        if status.kind != .file { return status }
        let wait = Settling.wait(for: status.changed, isOurClock: isOurClock(status))
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
            suspect.path, status, content: content, attributes: try stored(attributes, suspect.old),
            isSettled: isSettled(status), isUnstable: false)
        // A change of a directory's entries sets both times to the same instant.
        return ScanChange(old: suspect.old, new: new, isTimeSet: status.modified != status.changed)
    }

    /// Returns the attributes as an entry holds them.
    private func stored(_ attributes: [ExtendedAttribute], _ old: Entry?) throws -> [EntryAttribute] {
        try attributes.map { attribute in
            let value = try files.content(
                ofAttribute: attribute.value, old: old?.attributes.first { $0.name == attribute.name }?.value)
            return EntryAttribute(name: attribute.name, value: value)
        }
    }

    private func entry(
        _ path: RelativePath, _ status: FileStatus, content: Content, attributes: [EntryAttribute],
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

/// Decides whether a further change of an inode would show in its change time.
enum Settling {
    /// The kernel's clock for inode times ticks every 1 to 10 ms.
    private static let clockTick: Int64 = 20_000_000
    // FAT stores even seconds; ext3, HFS+ and servers on them store seconds. Their times have no nanoseconds.
    private static let coarseTick: Int64 = 2_000_000_000 + clockTick

    /// Whether a change at `now` or later would set a time other than `changed`.
    ///
    /// - Parameter isOurClock: whether this machine's clock sets the times. Then a time in the future, left by a clock
    ///   that was set back, is not set again; another machine's clock may be ahead.
    static func isSettled(_ changed: Timestamp, at now: Timestamp = .now, isOurClock: Bool) -> Bool {
        let tick = tick(of: changed)
        return changed < now.advanced(byNanoseconds: -tick)
            || isOurClock && changed > now.advanced(byNanoseconds: tick)
    }

    /// Nanoseconds until `changed` is settled; at most two ticks of the coarsest clock.
    ///
    /// A time further in the future does not settle by waiting.
    static func wait(for changed: Timestamp, at now: Timestamp = .now, isOurClock: Bool) -> Int64 {
        let tick = tick(of: changed)
        if isSettled(changed, at: now, isOurClock: isOurClock) || changed > now.advanced(byNanoseconds: tick) {
            return 0
        }
        let end = changed.advanced(byNanoseconds: tick)
        let wait = (end.seconds - now.seconds) * 1_000_000_000 + Int64(end.nanoseconds) - Int64(now.nanoseconds)
        return min(max(wait, 0) + 1, 2 * tick)
    }

    private static func tick(of changed: Timestamp) -> Int64 { changed.nanoseconds == 0 ? coarseTick : clockTick }
}
