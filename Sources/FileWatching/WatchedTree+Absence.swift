// Handles a root that disappears (renamed, deleted, replaced, covered or unmounted) and returns.

internal import FileIO
internal import Glibc
internal import Mementos
internal import SystemPackage

extension WatchedTree {
    func arm(waiting: Bool, _ continuation: ArmingContinuation) {
        isWaitedFor = waiting
        callers.arming = continuation
        do {
            try begin(with: OpenTree(settings.path))
        } catch {
            guard waiting, [.noSuchFileOrDirectory, .notDirectory].contains(error.code) else {
                return callers.answerArming(.failure(error))
            }
            goAway(.waiting)
        }
    }

    /// The root, opened if it is the one that was armed.
    func openTree() throws(FileError) -> OpenTree {
        if let root { return root }
        let opened = try OpenTree(settings.path)
        guard let identity, opened.status.isSameObject(as: identity) else {
            throw FileError("watch", settings.path, .noSuchFileOrDirectory)
        }
        root = opened
        return opened
    }

    /// Checks whether the root is at its path, if there is a reason to.
    func checkRoot() {
        guard tracker.rootNeedsCheck || phase.isAway && absence.isDue(at: hooks.now()) else { return }
        tracker.rootNeedsCheck = false
        switch phase {
        case .waiting, .unavailable: findRoot()
        case .armed:
            // A new directory may have the old one's inode number, but not its watch.
            if !isInPlace || tracker.tree.state(of: .root) == .unknown { becomeUnavailable() }
        case .returning: if !isInPlace { becomeUnavailable() }
        case .arming:
            if isInPlace { return }
            if isWaitedFor { return goAway(.waiting) }
            failArming(.noSuchFileOrDirectory)
        }
    }

    func failArming(_ code: Errno) {
        retireEverything()
        callers.answerArming(.failure(FileError("watch", settings.path, code)))
    }

    /// Whether the watched directory is at the root's path, and not only a link to it.
    var isInPlace: Bool {
        guard let identity, let found = try? OpenTree(settings.path) else { return false }
        return found.status.isSameObject(as: identity) && found.realPath?.bytes == realPath
    }

    func becomeUnavailable() {
        gaps.begin(.rootUnavailable, at: .now)
        goAway(.unavailable)
    }

    /// Forgets the tree, so that objects now at the path are not mistaken for it, and waits for the root.
    private func goAway(_ phase: WatchPhase) {
        retireEverything()
        rule.reset()
        polling.stop()
        endGap(.polling)
        self.phase = phase
        if phase == .waiting { identity = nil }
        cancelAudit()
        settings.events.send(.rootUnavailable)
        absence.start(at: hooks.now())
        findRoot()
    }

    private func findRoot() {
        watchAbove()
        if absence.isDue(at: hooks.now()) { absence.finish(found: false, took: .zero, at: hooks.now()) }
        guard let found = try? OpenTree(settings.path) else { return }
        // On another file system it is not the root: the root is unmounted and its mount point shows, or it is covered.
        if let identity, identity.device != found.status.device { return }
        do {
            try begin(with: found)
        } catch {
            callers.answerArming(.failure(error))
        }
    }

    /// Starts to crawl the root that was found.
    private func begin(with found: OpenTree) throws(FileError) {
        let fileSystem = hooks.fileSystem(try FileSystem.of(found.descriptor))
        if fileSystem.reach == .pseudo { throw FileError("watch", settings.path, .notSupported) }
        fallbackOfRoot = fileSystem.reach == .remote ? .remoteFileSystem : nil
        isUnproven = fileSystem.mayBeSilent
        absence.stop()
        giveUpLookout()
        identity = found.status
        realPath = found.realPath?.bytes
        root = found
        phase = phase == .unavailable ? .returning : .arming
        tracker.pending = [.root(reports: phase == .returning)]
    }

    /// Watches the nearest existing directory above the root; called before searching for the root.
    private func watchAbove() {
        var path = settings.path.removingLastComponent()
        while true {
            if let directory = try? Descriptor.open(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY) {
                let watch = try? sources.add(directory, path: .root, recording: &shortages)
                if watch != lookout { giveUpLookout() }
                lookout = watch
                return
            }
            if path.isEmpty || path.components.isEmpty { return }
            path.removeLastComponent()
        }
    }

    private func giveUpLookout() {
        if let lookout { sources.retire([lookout]) }
        lookout = nil
    }

    /// Watches each directory above the root for renaming, which moves the root without an event of its own.
    ///
    /// If one of them cannot be read or watched, its renaming is noticed at the next change in the root.
    func watchAncestors() {
        if isPolledWhole { return }
        var limits: Set<KernelLimit> = []
        guard let realPath else { return }
        var path = FilePath(bytes: realPath)
        while path.removeLastComponent() {
            guard let directory = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY) else { continue }
            if let watch = try? sources.add(directory, path: .root, .place, recording: &limits) {
                ancestors.insert(watch)
            }
        }
    }

    /// Retires all watches and forgets the tree.
    func retireEverything() {
        giveUpLookout()
        sources.retire(Array(ancestors))
        ancestors = []
        sources.retire(tracker.tree.watches)
        tracker = ChangeTracker(rules: settings.rules)
        root = nil
        polledPaths = []
        hasCrawled = false
    }
}
