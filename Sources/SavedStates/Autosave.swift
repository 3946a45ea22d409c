// Saves a state automatically: after changes, at an interval, and before the program ends.

public import Archives
internal import Dispatch
internal import FileWatching
public import Mementos
internal import Threading

/// Saves a state automatically until it is ended or released.
///
/// When the program ends by the end of main, `exit`, SIGTERM, SIGINT or SIGHUP (its terminal was closed), it first waits
/// until the last changes are saved, at most ten seconds, so that a disk that does not answer cannot keep it alive. A
/// program that handles these signals itself must call ``flush()`` before it ends. After a crash, `_exit` or `kill -9`, the last saved state remains.
public final class Autosave: Sendable {
    /// Sends every state that was saved, except those equal to the latest.
    public let saved = Subject<Memento>()
    /// Sends every failure; saving is retried later.
    public let failed = Subject<StateError>()

    private struct Progress {
        var rule: SettleRule
        var isScheduled = false
        var isEnded = false
        var latest: Memento?
    }

    private let timing: WatchTiming
    private let save: @Sendable () throws(StateError) -> Memento
    /// How often the state has changed; nil if changes cannot be counted.
    private let changeCount: (@Sendable () -> UInt64)?
    private let progress: Locked<Progress>
    /// The change count that was last saved.
    ///
    /// Locked while a state is saved, so that an older state is never saved after a newer one.
    private let saving: Locked<UInt64?>
    private let queue = DispatchQueue(label: "archiver.autosave", qos: .default)
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
        // Changes made after `end()` are not saved.
        if !isEnded { _ = try? saveNow() }
    }

    // MARK: Beginning

    /// Saves after each change that `subscribe` subscribes to.
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

    /// Saves unsaved changes; when this returns they are durable.
    ///
    /// - Throws: any error of saving; the changes stay unsaved, and saving is retried.
    public func flush() throws(StateError) {
        do throws(StateError) {
            if let memento = try saveNow() { report(memento) }
        } catch {
            // A timer that fired during the attempt found nothing due.
            schedule()
            throw error
        }
    }

    /// Saves unsaved changes and ends the autosave.
    ///
    /// - Throws: `StateError`, as `save`; the autosave has ended nevertheless.
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

    /// - Returns: nil if nothing has changed: a state that others saved under the title is then newer.
    private func saveNow() throws(StateError) -> Memento? {
        let saved = try saving.withLockUnlessHeld { (savedCount) throws(StateError) -> Memento? in
            // A change during the save is saved after it.
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

    /// Saves unsaved changes, and reports a failure.
    func saveAndReport() {
        do throws(StateError) { try flush() } catch { failed.send(error) }
    }

    // MARK: Waiting for quiet

    private func recordChange() {
        progress.withLock { $0.rule.recordChange(at: .now) }
        schedule()
    }

    /// Schedules a save for when the state is due, unless one is scheduled.
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
    /// Saves the value of `observable` under `title` after every change from now on.
    ///
    /// - Parameters:
    ///   - settle: how long the value must be unchanged before it is saved.
    ///   - maxDelay: the longest time from a first change until it is saved, even if changes continue.
    /// - Returns: the autosave; hold it for as long as it should save.
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

    /// Saves the state, undo steps and redo steps of `history` under `title` after every change from now on.
    ///
    /// - Parameters:
    ///   - settle: how long the history must be unchanged before it is saved.
    ///   - maxDelay: the longest time from a first change until it is saved, even if changes continue.
    /// - Returns: the autosave; hold it for as long as it should save.
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

    /// Saves the result of `state` under `title` every `interval` from now on.
    ///
    /// - Parameter state: called on a thread of the library.
    /// - Returns: the autosave; hold it for as long as it should save.
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
