// Who may change the states of a title: one thread or task at a time, in the order in which they asked.

internal import ArchiveFormat
internal import Dispatch
internal import Glibc
internal import Threading

/// The turns of this process's threads and tasks at titles; the title's lock file keeps other processes away.
///
/// A task waits for its turn without a thread. A thread may ask for a title while it has others, as an update within an
/// update does. If the thread whose turn it is waits for one of these, directly or through others, neither would ever
/// continue, so the asking thread is refused.
final class TitleTurns: Sendable {
    static let shared = TitleTurns()

    /// A title of an archive.
    struct Place: Hashable, Sendable {
        let archive: ArchiveID
        let title: String
    }

    /// Who has a turn.
    private enum Owner: Equatable {
        case thread(pthread_t)
        /// A task that is not running now; it has no other title.
        case task
    }

    private struct Waiter {
        let number: Int
        let owner: Owner
        let wake: @Sendable (_ hasTurn: Bool) -> Void
    }

    private struct State {
        var owners: [Place: Owner] = [:]
        var waiters: [Place: [Waiter]] = [:]
        /// The titles that threads wait for.
        var wanted: [pthread_t: Place] = [:]
        var lastNumber = 0

        /// A title at which `thread` has a turn.
        func title(of thread: pthread_t) -> String? {
            owners.filter { $0.value == .thread(thread) }.map(\.key.title).min()
        }

        /// The title of `thread` that the present owner of `place` waits for, directly or through others.
        func obstacle(to place: Place, for thread: pthread_t) -> Place? {
            var place = place
            // Each step follows another waiting thread; there are no cycles, because waits that would close one are
            // refused.
            while case .thread(let owner) = owners[place], let next = wanted[owner] {
                if owners[next] == .thread(thread) { return next }
                place = next
            }
            return nil
        }
    }

    private let state = Locked(State())

    /// How long a thread that has a title waits for another one.
    ///
    /// The waits of other processes are not known here: two of them could wait for each other's titles.
    @TaskLocal static var patience: Duration = .seconds(10)

    /// Waits until the turn of the calling thread at `place`.
    ///
    /// - Returns: another title at which the thread has a turn; then it must not wait for other processes for ever.
    /// - Throws: `titleInUse` or `titlesEntangled`.
    func take(_ place: Place) throws(StateError) -> String? {
        let thread = pthread_self()
        let hasTurn = DispatchSemaphore(value: 0)
        let (number, held): (Int?, String?) = try state.withLock { state throws(StateError) in
            let held = state.title(of: thread)
            guard let owner = state.owners[place] else {
                state.owners[place] = .thread(thread)
                return (nil, held)
            }
            if owner == .thread(thread) { throw .titleInUse(title: place.title) }
            if let obstacle = state.obstacle(to: place, for: thread) {
                throw .titlesEntangled(title: place.title, held: obstacle.title)
            }
            state.lastNumber += 1
            let waiter = Waiter(number: state.lastNumber, owner: .thread(thread)) { _ in hasTurn.signal() }
            state.waiters[place, default: []].append(waiter)
            state.wanted[thread] = place
            return (state.lastNumber, held)
        }
        guard let number else { return held }
        defer { state.withLock { $0.wanted[thread] = nil } }
        guard let held else {
            hasTurn.wait()
            return nil
        }
        let limit = DispatchTime.now() + .milliseconds(Int(TitleTurns.patience / .milliseconds(1)))
        if hasTurn.wait(timeout: limit) == .timedOut, removeWaiter(number, at: place) != nil {
            throw .titlesEntangled(title: place.title, held: held)
        }
        return held
    }

    /// Waits, without a thread, until the turn of the calling task at `place`; then its thread must `adopt` it.
    ///
    /// - Throws: `archive` with the code `cancelled` if the task is cancelled first.
    func take(_ place: Place) async throws(StateError) {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // The handler has run already, and found no waiter.
                    if Task.isCancelled { return false }
                    if state.owners[place] == nil {
                        state.owners[place] = .task
                        return true
                    }
                    state.waiters[place, default: []].append(
                        Waiter(number: number, owner: .task) { continuation.resume(returning: $0) })
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            removeWaiter(number, at: place)?.wake(false)
        }
        if !hasTurn { throw .cancelled(title: place.title) }
    }

    /// Gives the turn of a task to the calling thread, which works for it.
    func adopt(_ place: Place) {
        let thread = pthread_self()
        state.withLock { $0.owners[place] = .thread(thread) }
    }

    /// Gives the turn back to its task, which waits for another process.
    func returnToTask(_ place: Place) {
        state.withLock { $0.owners[place] = .task }
    }

    /// Ends the turn at `place`: the next one begins.
    func end(_ place: Place) {
        let next = state.withLock { state -> Waiter? in
            guard var waiters = state.waiters[place], !waiters.isEmpty else {
                state.owners[place] = nil
                return nil
            }
            let next = waiters.removeFirst()
            state.waiters[place] = waiters.isEmpty ? nil : waiters
            state.owners[place] = next.owner
            if case .thread(let thread) = next.owner { state.wanted[thread] = nil }
            return next
        }
        next?.wake(true)
    }

    /// - Returns: nil if its turn has begun already.
    private func removeWaiter(_ number: Int, at place: Place) -> Waiter? {
        state.withLock { state in
            guard let index = state.waiters[place]?.firstIndex(where: { $0.number == number }) else { return nil }
            let waiter = state.waiters[place]?.remove(at: index)
            if state.waiters[place]?.isEmpty == true { state.waiters[place] = nil }
            return waiter
        }
    }

    /// How many wait for a turn at `place`.
    func waiterCount(at place: Place) -> Int { state.withLock { $0.waiters[place]?.count ?? 0 } }
}
