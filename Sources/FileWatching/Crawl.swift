// The crawl: adds the watch first and lists the directory second, so that no change in between is missed.

internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A root's directory, opened; a `WatchedTree` keeps it only during crawls and audits.
final class OpenTree {
    let descriptor: Descriptor
    let status: FileStatus

    /// Opens the root; links on the way to it are followed.
    init(_ path: FilePath) throws(FileError) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        status = try FileStatus.read(descriptor)
    }

    /// The path without links, as the kernel reports it now; nil if that fails.
    var realPath: FilePath? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/fd/\(descriptor.number)", &target, target.count)
        if length <= 0 || length == target.count { return nil }
        return FilePath(bytes: target.prefix(length).map { UInt8(bitPattern: $0) })
    }
}

extension WatchedTree {
    /// Crawls up to `count` of the pending directories.
    func crawl(atMost count: Int) {
        var left = count
        while left > 0, !tracker.rootNeedsCheck, let item = tracker.pending.popLast() {
            left -= 1
            hasCrawled = true
            guard let path = tracker.path(of: item) else { continue }
            if tracker.excludes(item) {
                tracker.found(item, unwatched: .excluded)
                continue
            }
            do {
                try crawl(item, at: path)
            } catch {
                record(error, at: item, path)
            }
        }
    }

    private func crawl(_ item: CrawlItem, at path: RelativePath) throws(FileError) {
        let root: OpenTree
        do {
            root = try openTree()
        } catch {
            // The root check that follows clears the pending list if the root is gone.
            tracker.pending.append(item)
            return tracker.rootNeedsCheck = true
        }
        let directory = try root.descriptor.openForReading(beneath: path, O_DIRECTORY)
        let status = try FileStatus.read(directory, path: path)
        switch try treatment(of: directory, status, root: root.status) {
        case .watch: break
        case .leaveOut(let state):
            tracker.found(item, unwatched: state)
            if item.reports && state == .mountPoint { mark(.subtree(path)) }
            return
        case .poll: return poll(item, path)
        }
        let watch = try sources.add(directory, path: path, recording: &shortages)
        if item.isRoot && isUnproven {
            isUnproven = false
            if !receivesEvents(watch, of: directory, status) {
                fallbackOfRoot = .silentFileSystem
                sources.retire([watch])
                return poll(item, path)
            }
        }
        guard let node = tracker.found(item, watch: watch) else {
            return tracker.pending.insert(.root(reports: true), at: 0)
        }
        if item.reports { mark(.subtree(path)) }
        let listing = try sources.reader.read(directory, path: path)
        tracker.tree.setRules(DirectoryRules.read(in: directory, settings.rules, among: listing), of: node)
        let subdirectories = subdirectories(among: listing, of: directory)
        tracker.listed(node, subdirectories: subdirectories, reports: item.reports)
    }

    /// Records why a directory could not be watched.
    private func record(_ error: FileError, at item: CrawlItem, _ path: RelativePath) {
        switch error.code {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels:
            tracker.foundNothing(item)
            if item.reports { mark(.entry(path)) }
        case .permissionDenied where item.isRoot && phase == .arming: failArming(error.code)
        case .permissionDenied, .notPermitted:
            tracker.found(item, unwatched: .unreadable)
            if item.reports { mark(.subtree(path)) }
        default:
            // ENOSPC, EMFILE, ENOMEM, a file system without handles, a disk or server error (EIO, ENOTCONN, ESTALE,
            // ETIMEDOUT): polling retries the watch.
            poll(item, path)
        }
    }

    private func poll(_ item: CrawlItem, _ path: RelativePath) {
        tracker.found(item, unwatched: .polled)
        if item.reports { markPolled(path) }
    }

    func subdirectories(
        among listing: DirectoryListing, of directory: borrowing Descriptor
    ) -> [[UInt8]] {
        var names = [[UInt8]]()
        for index in listing.indices {
            // Not every file system reports the kind with the name.
            var kind = listing.kind(at: index)
            if kind == nil {
                // If the status cannot be read, it may be a directory: the crawl will find out.
                do { kind = try listing.status(at: index, in: directory)?.kind } catch { kind = .directory }
            }
            if kind == .directory { names.append(listing[index].name) }
        }
        return names
    }

    /// How a directory that was found is handled.
    enum Treatment {
        case watch
        case leaveOut(WatchTree.State)
        case poll
    }

    /// Decides how to handle a directory, by its identity and mount but not by its name.
    func treatment(
        of directory: borrowing Descriptor, _ status: FileStatus, root: FileStatus
    ) throws(FileError) -> Treatment {
        if settings.excluded.contains(FileIdentity(status)) { return .leaveOut(.excluded) }
        let isOtherMount =
            root.mount != 0 && status.mount != 0 ? status.mount != root.mount : status.device != root.device
        if isOtherMount {
            let reach = settings.rules.crossesMounts ? hooks.fileSystem(try FileSystem.of(directory)).reach : .pseudo
            if reach == .pseudo { return .leaveOut(.mountPoint) }
            if reach == .remote { return .poll }
        }
        return isPolledWhole ? .poll : .watch
    }
}
