// Writes restored files to the disk while the restore goes on.

internal import Dispatch
internal import FileIO
internal import Roots
internal import Threading

/// Synchronizes a file system now and then in the background, so that little is left when a restore ends.
///
/// The system writes files only when they are some seconds old. Without this, most of what a short restore wrote would
/// wait for its end, when nothing else is left to do.
///
/// A process that is asked to end waits until a synchronization has ended. So where one takes long, there is no other before
/// the end.
final class BackgroundSync: Sendable {
    private struct State {
        /// What was restored since the last time.
        var bytes: UInt64 = 0
        var isRunning = false
        var isSlow = false
        /// The system says only once that something could not be written.
        var failure: FileError?
    }

    private let stepBytes: UInt64
    private let slow: Duration
    private let synchronize: @Sendable () throws(FileError) -> Void
    private let state = Locked(State())
    private let group = DispatchGroup()
    private let queue = DispatchQueue(label: "archiver.sync", qos: .default)

    /// What a file costs apart from its content.
    private static let bytesPerFile: UInt64 = 4 << 10

    /// Synchronizes the file system of a root.
    convenience init(of root: RootDirectory) {
        self.init { () throws(FileError) in
            try root.directory.descriptor.synchronizeFileSystem(path: root.path)
        }
    }

    /// - Parameters:
    ///   - stepBytes: how much is restored between two times.
    ///   - slow: what takes so long is not done again before the end.
    ///   - synchronize: waits until the file system is on the disk.
    init(
        stepBytes: UInt64 = 64 << 20, slow: Duration = .seconds(2),
        _ synchronize: @escaping @Sendable () throws(FileError) -> Void
    ) {
        self.stepBytes = stepBytes
        self.slow = slow
        self.synchronize = synchronize
    }

    /// Takes notice of restored files with `bytes` of content.
    func add(files: Int, bytes: UInt64) {
        let isDue = state.withLock { state in
            state.bytes = state.bytes.addingSaturating(bytes)
                .addingSaturating(UInt64(files) * BackgroundSync.bytesPerFile)
            guard state.bytes >= stepBytes, !state.isRunning, !state.isSlow else { return false }
            state.bytes = 0
            state.isRunning = true
            return true
        }
        guard isDue else { return }
        queue.async(group: group) { [self] in
            var failure: FileError?
            let duration = ContinuousClock().measure {
                do throws(FileError) { try synchronize() } catch { failure = error }
            }
            state.withLock { state in
                state.isRunning = false
                state.isSlow = duration >= slow
                state.failure = state.failure ?? failure
            }
        }
    }

    /// Waits until everything is on the disk.
    func finish() throws(FileError) {
        group.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        try synchronize()
    }
}
