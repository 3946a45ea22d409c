// The crawl: add the watch, then list, so that nothing slips in between.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// A root's open directory, kept only while directories are being crawled.
final class OpenRoot {
    let descriptor: Descriptor
    let status: FileStatus

    /// Opens the root; links on the way to it are followed.
    init(_ path: FilePath) throws(FileError) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        status = try FileStatus.read(descriptor)
    }
}

extension WatchedRoot {
    /// Crawls up to `count` of the pending directories.
    func crawl(atMost count: Int) {
        var left = count
        while left > 0, !tracker.rootNeedsCheck, let item = tracker.pending.popLast() {
            left -= 1
            hasCrawled = true
            guard let path = tracker.path(of: item) else { continue }
            do {
                try crawl(item, at: path)
            } catch {
                note(error, at: item, path)
            }
        }
    }

    private func crawl(_ item: CrawlItem, at path: RelativePath) throws(FileError) {
        let root: OpenRoot
        do {
            root = try openRoot()
        } catch {
            // The check that follows drops what is pending if the root is gone.
            tracker.pending.append(item)
            return tracker.rootNeedsCheck = true
        }
        let directory = try root.descriptor.openForReading(beneath: path, O_DIRECTORY)
        let status = try FileStatus.read(directory, path: path)
        if isOtherMount(status, than: root.status) { return tracker.found(item, unwatched: .mountPoint) }
        if excluded.contains(FileIdentity(status)) { return tracker.found(item, unwatched: .excluded) }
        if isRemote { return keepPolling(item, path) }
        if let failure = hooks.watchFailure(path) { throw FileError("watch", path, failure) }
        let watch = try inotify.add(directory, path: path)
        guard let node = tracker.found(item, watch: watch) else {
            return tracker.pending.insert(.root(reports: true), at: 0)
        }
        if item.reports { mark(.subtree(path)) }
        let subdirectories = try subdirectories(of: directory, path)
        tracker.listed(node, subdirectories: subdirectories, reports: item.reports)
    }

    /// Takes in why a directory could not be watched.
    private func note(_ error: FileError, at item: CrawlItem, _ path: RelativePath) {
        switch error.code {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .staleNFSFileHandle:
            tracker.foundNothing(item)
            if item.reports { mark(.entry(path)) }
        case .permissionDenied, .notPermitted:
            tracker.found(item, unwatched: .unreadable)
            if item.reports { mark(.subtree(path)) }
        case .noSpace:
            watchShortage = true
            keepPolling(item, path)
        default:
            // EMFILE, ENOMEM, EIO: polling tries to watch it again.
            keepPolling(item, path)
        }
    }

    private func keepPolling(_ item: CrawlItem, _ path: RelativePath) {
        tracker.found(item, unwatched: .polled)
        if item.reports { mark(.subtree(path)) }
    }

    private func subdirectories(
        of directory: borrowing Descriptor, _ path: RelativePath
    ) throws(FileError) -> [[UInt8]] {
        let records = try reader.read(directory, path: path)
        var names = [[UInt8]]()
        for record in records {
            // Not every file system tells the kind with the name.
            let kind: FileKind?
            if let known = record.kind {
                kind = known
            } else {
                kind = try FileStatus.read(CName(record.name), in: directory)?.kind
            }
            if kind == .directory { names.append(record.name) }
        }
        return names
    }

    private func isOtherMount(_ status: FileStatus, than root: FileStatus) -> Bool {
        root.mount != 0 && status.mount != 0 ? status.mount != root.mount : status.device != root.device
    }
}
