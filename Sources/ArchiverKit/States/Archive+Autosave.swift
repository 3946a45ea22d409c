// What can be saved by itself: observable values, undo histories, and whatever a closure gives.

internal import FileWatching
public import Mementos

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
