// Saving by itself: after changes, every so often, and before the program ends.

public import Archives
internal import Dispatch
internal import FileWatching
public import Mementos
internal import Threading

/// Saves a state again and again, until it is ended or no longer kept.
///
/// The end of the program waits until what has changed is saved: the end of main, `exit`, SIGTERM and SIGINT; not longer
/// than ten seconds, so that a disk that does not answer keeps no program alive. A program that answers these signals
/// itself calls ``flush()`` where it does. Whatever else ends the program, a crash, `_exit` or `kill -9`, what was saved
/// last is there.
public final class Autosave: Sendable {
    /// Tells of every state that was saved; of one that was equal to the latest, nothing.
    public let saved = Subject<Memento>()
    /// Tells of every failure; saving is tried again later.
    public let failed = Subject<StateError>()

    private struct Progress {
        var rule: SettleRule
        var isScheduled = false
        var isEnded = false
        var latest: Memento?
    }

    private let timing: WatchTiming
    private let save: @Sendable () throws(StateError) -> Memento
    /// How often the state has changed so far; nil where only the state itself tells.
    private let changeCount: (@Sendable () -> UInt64)?
    private let progress: Locked<Progress>
    /// The changes that are saved.
    ///
    /// Held while a state is saved, so that an older one never comes after a newer one.
    private let saving: Locked<UInt64?>
    private let queue = DispatchQueue(label: "archiver.autosave")
    private let sources = Locked<(changes: [Subscription], timer: (any DispatchSourceTimer)?)>(([], nil))

    init(
        timing: WatchTiming, changeCount: (@Sendable () -> UInt64)? = nil,
        save: @escaping @Sendable () throws(StateError) -> Memento
    ) {
        self.timing = timing
        self.save = save
        self.changeCount = changeCount
        saving = Locked(changeCount?())
        progress = Locked(Progress(rule: SettleRule(timing: timing)))
        Termination.register(self)
    }

    deinit {
        let isEnded = progress.withLock { $0.isEnded }
        stop()
        // What changes after the end is not its own to save.
        if !isEnded { _ = try? saveNow() }
    }

    // MARK: Beginning

    /// Saves after changes that those tell of to which `subscribe` subscribes.
    func begin(after subscribe: (@escaping @Sendable () -> Void) -> [Subscription]) {
        let subscriptions = subscribe { [weak self] in self?.recordChange() }
        sources.withLock { $0.changes = subscriptions }
    }

    /// Saves every `interval`.
    func begin(every interval: Duration) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .init(interval), repeating: .init(interval))
        timer.setEventHandler { [weak self] in self?.saveAndReport() }
        timer.resume()
        sources.withLock { $0.timer = timer }
    }

    // MARK: Saving

    /// Saves what has changed and was not saved yet; when this returns it is durable.
    ///
    /// - Throws: what saving throws; the state remains to be saved, and that is tried again.
    public func flush() throws(StateError) {
        do throws(StateError) {
            if let memento = try saveNow() { report(memento) }
        } catch {
            // Whoever came back while it was tried found nothing due.
            schedule()
            throw error
        }
    }

    /// Saves what has changed and was not saved yet, and ends.
    public func end() throws(StateError) {
        stop()
        try flush()
    }

    private func stop() {
        progress.withLock { $0.isEnded = true }
        sources.withLock { sources in
            for subscription in sources.changes { subscription.cancel() }
            sources.timer?.cancel()
            sources = ([], nil)
        }
        Termination.unregister(self)
    }

    /// - Returns: nil where nothing has changed: what others have saved under the title meanwhile is newer.
    private func saveNow() throws(StateError) -> Memento? {
        let saved = try saving.withLockUnlessHeld { (savedCount) throws(StateError) -> Memento? in
            // A change that comes while the state is saved is saved after it.
            progress.withLock { $0.rule.reset() }
            let count = changeCount?()
            if let count, count == savedCount { return nil }
            do throws(StateError) {
                let memento = try save()
                savedCount = count
                return memento
            } catch {
                progress.withLock { $0.rule.recordChange(at: .now + timing.maxDelay) }
                throw error
            }
        }
        return saved ?? nil
    }

    private func report(_ memento: Memento) {
        let isNew = progress.withLock { progress in
            defer { progress.latest = memento }
            return progress.latest?.id != memento.id
        }
        if isNew { saved.send(memento) }
    }

    /// Saves what has changed, and tells of a failure.
    func saveAndReport() {
        do throws(StateError) { try flush() } catch { failed.send(error) }
    }

    // MARK: Waiting for quiet

    private func recordChange() {
        progress.withLock { $0.rule.recordChange(at: .now) }
        schedule()
    }

    /// Comes back when the state is due, unless that is arranged already.
    private func schedule() {
        let deadline: ContinuousClock.Instant? = progress.withLock { progress in
            guard !progress.isScheduled, !progress.isEnded, let deadline = progress.rule.deadline else { return nil }
            progress.isScheduled = true
            return deadline
        }
        guard let deadline else { return }
        let wait = max(.zero, ContinuousClock.now.duration(to: deadline))
        queue.asyncAfter(deadline: .now() + .init(wait)) { [weak self] in self?.comeBack() }
    }

    private func comeBack() {
        let isDue = progress.withLock { progress in
            progress.isScheduled = false
            return progress.rule.deadline.map { $0 <= .now } ?? false
        }
        if isDue { saveAndReport() } else { schedule() }
    }
}

extension Archive {
    /// Saves the value of `observable` under `title` after every change, from now on.
    ///
    /// - Parameters:
    ///   - settle: how long it must be quiet before a change is saved.
    ///   - maxDelay: how long after its first change it is saved although it is not quiet.
    /// - Returns: what saves it, to be kept.
    public func autosave<State: Codable & Sendable>(
        _ observable: Observable<State>, as title: String, settle: Duration = .milliseconds(100),
        maxDelay: Duration = .seconds(2)
    ) -> Autosave {
        let store = StateStore<State>(title: title, archive: self)
        let autosave = Autosave(
            timing: WatchTiming(settle: settle, maxDelay: maxDelay), changeCount: { observable.changeCount },
            save: { () throws(StateError) in try store.save(observable.value) })
        autosave.begin { changed in [observable.observe([]) { _ in changed() }] }
        return autosave
    }

    /// Saves what `history` has made, and what can be undone and redone, under `title` after every step and every other
    /// change of its state, from now on.
    ///
    /// - Parameters:
    ///   - settle: how long it must be quiet before a change is saved.
    ///   - maxDelay: how long after its first change it is saved although it is not quiet.
    /// - Returns: what saves it, to be kept.
    public func autosave<SomeCommand: Command & Codable>(
        _ history: UndoHistory<SomeCommand>, as title: String, settle: Duration = .milliseconds(100),
        maxDelay: Duration = .seconds(2)
    ) -> Autosave where SomeCommand.State: Codable {
        let store = StateStore<UndoMemento<SomeCommand>>(title: title, archive: self)
        let autosave = Autosave(
            timing: WatchTiming(settle: settle, maxDelay: maxDelay), changeCount: { history.changeCount },
            save: { () throws(StateError) in try store.save(UndoOriginator(history).captureState()) })
        autosave.begin { changed in
            [history.status.observe([]) { _ in changed() }, history.state.observe([]) { _ in changed() }]
        }
        return autosave
    }

    /// Saves what `state` returns under `title` every `interval`, from now on.
    ///
    /// - Parameter state: called on a thread of the library.
    /// - Returns: what saves it, to be kept.
    public func autosave<State: Codable & Sendable>(
        as title: String, every interval: Duration, _ state: @escaping @Sendable () -> State
    ) -> Autosave {
        let store = StateStore<State>(title: title, archive: self)
        let autosave = Autosave(timing: WatchTiming(settle: .zero, maxDelay: interval)) { () throws(StateError) in
            try store.save(state())
        }
        autosave.begin(every: interval)
        return autosave
    }
}

extension DispatchTimeInterval {
    fileprivate init(_ duration: Duration) {
        let nanoseconds = Int(exactly: (duration / .nanoseconds(1)).rounded(.up))
        self = nanoseconds.map { .nanoseconds($0) } ?? .never
    }
}
