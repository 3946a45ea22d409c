// Asking the watchers of many roots.

internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SystemPackage

/// The answers of the watchers of several roots.
///
/// A process may watch thousands of roots. It is asked once and answers for all of them, so that it reads the kernel's
/// events and captures the latest changes of all roots at the same time.
struct WatcherAnswers {
    /// The watcher's status, nil if no process listens; an error if it does not answer.
    typealias Answer = Result<WatcherStatus?, ArchiverError>

    private var answers: [FilePath: Answer] = [:]

    /// - Parameters:
    ///   - roots: the watched roots.
    ///   - patience: how long each process may take to answer.
    init(of roots: [FilePath], in layout: ArchiveLayout, patience: Duration) {
        // Wait only once for a process that does not answer, however many roots it watches.
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

    /// The answer about a root; nil if the root was not among those asked about.
    subscript(_ root: FilePath) -> Answer? { answers[root] }
}
