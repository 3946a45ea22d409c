// Plans of restores: computed and shown first, applied later.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Crypto
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// A planned restore.
struct RestorePlan: Sendable {
    let snapshot: ListedSnapshot
    let paths: [RelativePath]
    let actions: [RestoreAction]
    /// How many paths are left alone because they are excluded from snapshots.
    let excluded: Int
    /// What else to know before the restore, each a sentence.
    let remarks: [String]
    /// A digest of the plan and of the files that it affects; a different one means that the tree has changed.
    let digest: String

    private static let pathLimit = 1000

    var wanted: [WantedPath] { paths.map { WantedPath($0, in: snapshot) } }

    /// Plans a restore.
    init(_ snapshot: ListedSnapshot, _ paths: [RelativePath], in archive: Archive) throws {
        guard !paths.isEmpty, paths.count <= RestorePlan.pathLimit else {
            throw Refusal.bad("name between 1 and \(RestorePlan.pathLimit) paths")
        }
        // A path inside another one is restored with that.
        let outermost = paths.filter { path in !paths.contains { $0 != path && $0.contains(path) } }
        self.paths = Array(Set(outermost)).sorted()
        self.snapshot = snapshot
        let found = Locked<[RestoreAction]>([])
        let result = try archive.restore(
            self.paths.map { WantedPath($0, in: snapshot) }, RestoreOptions(isDryRun: true)
        ) { action in
            found.withLock { $0.append(action) }
        }
        (excluded, remarks) = (result.excluded, result.warnings)
        actions = found.withLock { $0 }
        var hash = SHA256()
        for action in actions {
            let present = RestorePlan.present(
                FilePath(bytes: snapshot.rootPath + [UInt8(ascii: "/")] + action.path.bytes))
            hash.update(
                data: Array("\(action.kind.rawValue) \(action.bytes) \(present) ".utf8) + action.path.bytes + [0])
        }
        digest = Base64URL.encoded(Array(hash.finalize().prefix(12)))
    }
}

extension RestorePlan {
    /// Returns a fingerprint of the file at a path; programs cannot set its change time (inode(7)).
    private static func present(_ path: FilePath) -> String {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { return "nothing" }
        return "\(status.st_ino) \(status.st_size) \(status.st_ctim.tv_sec) \(status.st_ctim.tv_nsec)"
    }
}

/// The plans that were shown and can be applied.
final class RestorePlans: Sendable {
    private let plans = Locked<[(name: String, plan: RestorePlan)]>([])
    private static let limit = 50

    /// Adds a plan, and returns a name for it.
    func add(_ plan: RestorePlan) -> String {
        var generator = SystemRandomNumberGenerator()
        let name = String(generator.next() as UInt64, radix: 16)
        plans.withLock { plans in
            plans.append((name, plan))
            if plans.count > RestorePlans.limit { plans.removeFirst() }
        }
        return name
    }

    /// Removes and returns a plan.
    func remove(_ name: String) -> RestorePlan? {
        plans.withLock { plans in
            plans.firstIndex { $0.name == name }.map { plans.remove(at: $0).plan }
        }
    }
}
