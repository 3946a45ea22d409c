// What takes the space: counted once for each root, and again when the archive has changed since.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import Threading

/// The usage of each root as it was counted last.
///
/// Counting visits every tree of the archive. So an answer has the last count, if there is one, and a new count runs
/// meanwhile. As it needs memory for each tree, the trees of very many snapshots are not counted.
final class UsageKeeper: Sendable {
    struct Count: Sendable {
        let usage: ArchiveUsage
        let time: Timestamp
        fileprivate let number: ChangeNumber
        fileprivate let duration: Duration
        fileprivate let end: ContinuousClock.Instant
    }

    private struct State {
        var counts: [ArchivedRoot: Count] = [:]
        var failures: [ArchivedRoot: String] = [:]
        /// The root that is being counted: one at a time, as each count takes much memory.
        var running: ArchivedRoot?
    }

    private let archive: Archive
    /// The most snapshots whose trees are counted.
    let limit: Int
    private let state = Locked(State())

    /// A new count begins after so many times the duration of the last one.
    private static let pauseFactor = 20

    init(_ archive: Archive, limit: Int) { (self.archive, self.limit) = (archive, limit) }

    /// Returns the last count, and begins another one if it is out of date.
    ///
    /// - Returns: the last count, whether another one runs, and why the last one failed.
    func usage(of root: ArchivedRoot) throws -> (count: Count?, isCounting: Bool, failure: String?) {
        let number = try archive.changeNumber()
        let (count, isCounting, begins, failure) = state.withLock { state in
            let count = state.counts[root]
            let isDue = count.map { count in
                count.number != number && count.end + count.duration * UsageKeeper.pauseFactor < .now
            }
            let begins = isDue ?? true && state.running == nil
            if begins { state.running = root }
            return (count, begins || state.running == root, begins, state.failures[root])
        }
        if begins {
            do {
                try DetachedThread.start(for: "counting what takes the space", .lowest) { [self] in
                    run(root, number)
                }
            } catch {
                state.withLock { $0.running = nil }
                throw error
            }
        }
        return (count, isCounting, begins ? nil : failure)
    }

    private func run(_ root: ArchivedRoot, _ number: ChangeNumber) {
        let (begin, time) = (ContinuousClock.now, Timestamp.now)
        do throws(ArchiverError) {
            let usage = try archive.usage(by: .path(root: root, directory: .root))
            state.withLock { state in
                state.counts[root] = Count(
                    usage: usage, time: time, number: number, duration: ContinuousClock.now - begin,
                    end: ContinuousClock.now)
                (state.failures[root], state.running) = (nil, nil)
            }
        } catch {
            state.withLock { state in
                (state.failures[root], state.running) = (error.message, nil)
            }
        }
    }
}
