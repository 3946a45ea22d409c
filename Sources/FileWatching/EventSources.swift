// The backends of one watcher, and the choice of the backend that watches a directory.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The event sources of a watcher, in order of preference; used by one thread.
final class EventSources {
    let backend: WatchBackend
    private let hooks: WatcherHooks
    private var inotify: Inotify?
    private var fanotify: Fanotify?
    /// The limit that prevented opening inotify.
    private(set) var missingInotify: KernelLimit?
    private var hasTriedFanotify = false
    /// Lists the directories of all roots; shared because its buffer is large.
    var reader = DirectoryReader()

    /// Opens the sources of `backend`.
    ///
    /// - Throws: `FileError` if a requested backend is not available; `.auto` falls back to polling instead.
    init(_ backend: WatchBackend, hooks: WatcherHooks) throws(FileError) {
        self.backend = backend
        self.hooks = hooks
        switch backend {
        case .auto: reopen()
        case .inotify: inotify = try opened(.inotify) { () throws(FileError) in try Inotify() }
        case .fanotify: fanotify = try opened(.fanotify) { () throws(FileError) in try Fanotify() }
        case .poll: break
        }
    }

    /// The open sources.
    var all: [any EventSource] {
        [inotify as (any EventSource)?, fanotify].compactMap { $0 }
    }

    /// Whether no source is open, so that every root is polled.
    var isEmpty: Bool { inotify == nil && fanotify == nil }

    /// Opens inotify if the backend is `.auto` and inotify is not open; opens fanotify if that fails.
    func reopen() {
        guard backend == .auto, inotify == nil else { return }
        do {
            inotify = try opened(.inotify) { () throws(FileError) in try Inotify() }
            missingInotify = nil
        } catch {
            missingInotify = .inotifyInstances
            hasTriedFanotify = false
            openFanotify()
        }
    }

    /// Watches an open directory with the first source that can; a directory that is watched keeps its watch.
    ///
    /// - Parameter shortages: receives the limits that were reached.
    /// - Throws: `FileError` of the last source tried.
    func add(
        _ directory: borrowing Descriptor, path: RelativePath, _ interest: WatchInterest = .contents,
        recording shortages: inout Set<KernelLimit>
    ) throws(FileError) -> WatchID {
        if let missingInotify { shortages.insert(missingInotify) }
        if let inotify, fanotify?.watch(of: directory) == nil {
            do {
                return try add(directory, path, interest, to: inotify)
            } catch {
                guard error.code == .noSpace else { throw error }
                shortages.insert(.inotifyWatches)
                if backend != .auto { throw error }
            }
            openFanotify()
        }
        guard let fanotify else { throw FileError("watch", path, .noSpace) }
        do {
            return try add(directory, path, interest, to: fanotify)
        } catch {
            if error.code == .noSpace { shortages.insert(.fanotifyMarks) }
            throw error
        }
    }

    func retire(_ watches: [WatchID]) {
        inotify?.retire(watches.filter { $0.backend == .inotify })
        fanotify?.retire(watches.filter { $0.backend == .fanotify })
    }

    /// Removes the retired watches that are not in use again from the kernel.
    ///
    /// - Returns: false if all watches in use must be added again.
    func removeRetired(unless isUsed: (WatchID) -> Bool) -> Bool {
        all.reduce(true) { $1.removeRetired(unless: isUsed) && $0 }
    }

    private func openFanotify() {
        if fanotify != nil || hasTriedFanotify { return }
        hasTriedFanotify = true
        fanotify = try? opened(.fanotify) { () throws(FileError) in try Fanotify() }
    }

    private func opened<Source: EventSource>(
        _ backend: WatchBackend, _ open: () throws(FileError) -> Source
    ) throws(FileError) -> Source {
        if let failure = hooks.openFailure(backend) { throw FileError("watch", FilePath(backend.rawValue), failure) }
        let source = try open()
        hooks.opened(backend, source.number)
        return source
    }

    private func add(
        _ directory: borrowing Descriptor, _ path: RelativePath, _ interest: WatchInterest, to source: any EventSource
    ) throws(FileError) -> WatchID {
        if interest == .contents, let failure = hooks.watchFailure(source.backend, path) {
            throw FileError("watch", path, failure)
        }
        return try source.add(directory, path: path, interest)
    }
}
