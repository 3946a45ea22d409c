// A directory in memory, and a clock that stands still, for archives of tests.

public import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// A private directory in the memory file system, removed with its contents when it is released.
final class MemoryDirectory: Sendable {
    let path: FilePath

    private static let prefix = "archiver-memory-"

    /// - Throws: `FileError` if it cannot be created.
    init() throws(FileError) {
        let memory: FilePath = "/dev/shm"
        let place =
            access(memory.string, W_OK | X_OK) == 0
            ? memory : getenv("TMPDIR").map { FilePath(platformString: $0) } ?? "/tmp"
        MemoryDirectory.removeAbandoned(in: place)
        let pattern = place.appending("\(MemoryDirectory.prefix)\(getpid())-XXXXXX")
        var template = pattern.withPlatformString { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
        let name = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } }
        guard let name else { throw FileError("create directory", pattern, .current) }
        path = FilePath(platformString: name)
    }

    deinit { try? Directory.removeTree(path) }

    /// Removes the directories of this user's processes that were killed; those of others cannot be removed.
    private static func removeAbandoned(in place: FilePath) {
        guard let directory = try? Descriptor.open(place, O_RDONLY | O_DIRECTORY),
            let records = try? DirectoryReader.list(directory, path: .root)
        else { return }
        for record in records {
            let name = String(decoding: record.name, as: UTF8.self)
            guard name.hasPrefix(prefix), let process = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }),
                process > 0, kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? Directory.removeTree(place.appending(name))
        }
    }
}

/// A clock that stands still until it is set, to date the saved states of a test.
public final class ManualClock: Sendable {
    private let time: Locked<Timestamp>

    /// A clock that shows `start`.
    public init(_ start: Timestamp) { time = Locked(start) }

    /// The time that it shows.
    public var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Sets the clock forward, or back if `seconds` is negative.
    public func advance(bySeconds seconds: Int64) {
        time.withLock {
            let sum = $0.seconds.addingReportingOverflow(seconds).partialValue
            $0 = Timestamp(seconds: sum, nanoseconds: $0.nanoseconds)
        }
    }
}
