// The mount points below a root, which a restore leaves alone.

internal import ArchiveFormat
internal import FileIO
internal import Roots

/// The directories below a root on which other file systems are mounted.
struct MountPoints {
    private let root: RootDirectory
    /// Whether they belong to the restore.
    private var isIncluded = false
    private var known: [RelativePath: Bool] = [:]

    /// - Parameters:
    ///   - part: the restored part; if it is on another file system itself, the user asked for that.
    ///   - crossesMounts: whether file systems mounted below the root belong to it.
    init(_ root: RootDirectory, part: RelativePath, crossesMounts: Bool) {
        self.root = root
        isIncluded = crossesMounts || isElsewhere(part)
    }

    /// Whether `step` concerns the metadata or the content of a mount point.
    ///
    /// Neither belongs to the root. A step that would remove or replace the mount point itself fails instead.
    mutating func isAtMountPoint(_ step: RestoreStep) throws -> Bool {
        if isIncluded { return false }
        if let parent = step.path.parent, isElsewhere(parent) { return true }
        return step.present?.kind == .directory && step.wanted?.kind == .directory && isElsewhere(step.path)
    }

    /// Whether the directory is on another file system than the root.
    private mutating func isElsewhere(_ directory: RelativePath) -> Bool {
        guard let parent = directory.parent else { return false }
        if let known = known[directory] { return known }
        var result = isElsewhere(parent)
        // If the status cannot be read, the restore of the step fails and says why.
        if !result, let status = try? FileStatus.read(directory, beneath: root.directory.descriptor) {
            result = status.device != root.status.device || status.mount != root.status.mount
        }
        known[directory] = result
        return result
    }
}
