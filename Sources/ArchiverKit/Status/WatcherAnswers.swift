// Asking the watchers of many roots.

internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SystemPackage

/// What the watchers of several roots answer.
///
/// A process may watch thousands of roots. It is asked once and answers for all of them: each look at what the kernel has
/// to tell, and each capture of what changed just now, then serves all roots at a time.
struct WatcherAnswers {
    /// The watcher's status, nil where nobody listens; an error where it does not answer.
    typealias Answer = Result<WatcherStatus?, ArchiverError>

    private var answers: [FilePath: Answer] = [:]

    /// - Parameters:
    ///   - roots: those that are watched.
    ///   - patience: how long each process may take to answer.
    init(of roots: [FilePath], in layout: ArchiveLayout, patience: Duration) {
        // A process that does not answer is not waited for again, however many roots it watches.
        var silent: Set<Int32> = []
        for root in roots where answers[root] == nil {
            let process = RootLock.watcher(of: root, in: layout)
            if let process, silent.contains(process) {
                answers[root] = .failure(ControlClient.silence(root))
                continue
            }
            let start = ContinuousClock.now
            do throws(ArchiverError) {
                let response = try ControlClient.ask(
                    .status, about: root, in: layout, patience: patience, isForAll: roots.count > 1)
                answers[root] = .success(response?.status)
                for other in response?.others ?? [] { answers[FilePath(bytes: other.root)] = .success(other.status) }
            } catch {
                answers[root] = .failure(error)
                if let process, ContinuousClock.now - start >= patience { silent.insert(process) }
            }
        }
    }

    /// Nil where the root is not watched.
    subscript(_ root: FilePath) -> Answer? { answers[root] }
}
