// Restores into a missing or empty directory; the root stays unchanged.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Capturing
internal import FileIO
internal import FileWatching
package import Roots
package import SystemPackage

/// One restore into another directory.
package struct RestoreElsewhere {
    let source: RestoreSource
    let target: FilePath
    /// Whether the target is the new name of the restored object, which is not a directory.
    let isFile: Bool
    let interruption: RestoreInterruption?
    let progress: OperationProgress?
    let onAction: (@Sendable (RestoreAction) -> Void)?

    package init(
        _ source: RestoreSource, to target: FilePath, isFile: Bool, interruption: RestoreInterruption?,
        progress: OperationProgress?,
        onAction: (@Sendable (RestoreAction) -> Void)?
    ) {
        self.source = source
        self.target = target
        self.isFile = isFile
        self.interruption = interruption
        self.progress = progress
        self.onAction = onAction
    }

    package func run() throws -> RestoreResult {
        if isFile { return try writeFile() }
        let place = try RestoreTarget.open(target, marker: "\(marker) \(source.path)\n")
        let root = place.root
        let sync = BackgroundSync(of: root)
        let writer = RestoreWriter(
            root, from: source.store, owners: try source.owners(), links: LinkGroups { [:] },
            isMarked: true, crossesMounts: true, interruption: interruption,
            wantedDirectory: { [self] path in
                path.isRoot ? try wantedRoot() : try source.entry(at: original(of: path))
            }, progress: progress, sync: sync)
        progress?.expect(entries: nil, bytes: source.path.isRoot ? source.snapshot?.totals.bytes : nil)
        try writer.run {
            try source.forEachEntry { entry in
                var wanted = entry
                wanted.path = try relocated(entry.path)
                let present = try place.isContinued ? leftOver(wanted, in: root) : nil
                let step = RestoreStep(path: wanted.path, present: present, wanted: wanted)
                if let action = step.action { onAction?(action) }
                try writer.apply(step)
            }
        }
        var result = writer.result
        // If the restore was interrupted, or a retry may restore more, the marker stays, so that the same command
        // continues.
        if !result.isInterrupted {
            try sync.finish()
            if result.isWorthRepeating {
                result.warn(
                    "run the same command again to finish \(root.path); until then it has \(RestoreTarget.markerName)")
            } else {
                try place.finish(try wantedRoot())
            }
        }
        result.path = source.path
        return result
    }

    /// Reports what a restore would do, without changing anything.
    package func plan() throws -> RestoreResult {
        var result = RestoreResult(destination: target, path: source.path)
        try source.forEachEntry { entry in
            var wanted = entry
            wanted.path = try relocated(entry.path)
            guard let action = RestoreStep(path: wanted.path, present: nil, wanted: wanted).action else { return }
            onAction?(action)
            result.count(action.kind, bytes: action.bytes)
        }
        return result
    }

    /// Restores one object, which is not a directory, to the new path `target`.
    private func writeFile() throws -> RestoreResult {
        guard var wanted = try source.entry(), let name = target.bytes.split(separator: UInt8(ascii: "/")).last else {
            return try plan()
        }
        let directory = target.removingLastComponent()
        let parent = directory.isEmpty ? FilePath(".") : directory
        try Directory.create(parent, permissions: 0o777, durable: false)
        let root = try RootDirectory.open(parent)
        wanted.path = RelativePath(unchecked: Array(name))
        if try FileStatus.read(wanted.path, beneath: root.directory.descriptor) != nil {
            throw ArchiverError(.targetNotEmpty, "\(target) exists", remedy: "choose another name", path: target)
        }
        let sync = BackgroundSync(of: root)
        let writer = RestoreWriter(
            root, from: source.store, owners: try source.owners(), links: LinkGroups { [:] }, isMarked: false,
            crossesMounts: true, interruption: interruption, wantedDirectory: { _ in nil }, progress: progress,
            sync: sync)
        try writer.run {
            let step = RestoreStep(path: wanted.path, present: nil, wanted: wanted)
            if let action = step.action { onAction?(action) }
            try writer.apply(step)
        }
        var result = writer.result
        if !result.isInterrupted { try sync.finish() }
        result.destination = target
        result.path = source.path
        return result
    }

    /// The part of the marker that identifies the snapshot of an interrupted restore.
    private var marker: String { source.snapshot?.id.hex ?? "" }

    /// The wanted state of the target itself: that of the directory whose content it gets.
    private func wantedRoot() throws -> Entry? {
        try source.entry().flatMap { $0.kind == .directory ? $0 : nil }
    }

    /// The path in the target for the snapshot's `path`.
    private func relocated(_ path: RelativePath) throws -> RelativePath {
        if let rest = source.path.suffix(of: path), !rest.isRoot { return rest }
        return try wantedRoot() != nil ? .root : RelativePath(unchecked: Array(path.name))
    }

    private func original(of path: RelativePath) -> RelativePath {
        source.path.appending(path: path)
    }

    /// The object that an interrupted restore left at the path; a directory is reused, anything else is rewritten.
    private func leftOver(_ wanted: Entry, in root: RootDirectory) throws -> Entry? {
        if wanted.path.isRoot {
            try RestoreTarget.removeTemporaryFiles(in: .root, of: root)
            return nil
        }
        let place = try root.directory.descriptor.openParent(of: wanted.path)
        guard let status = try FileStatus.read(place.name, in: place.directory, path: wanted.path) else { return nil }
        if status.kind == .directory { try RestoreTarget.removeTemporaryFiles(in: wanted.path, of: root) }
        return Entry(unread: status, at: wanted.path)
    }
}
