// Plans of restores: computed and shown first, applied later.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import Crypto
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import TextDiff
internal import Threading

/// What a plan is to restore.
enum RestoreWish: Sendable {
    /// Whole paths in place, each from the first of its snapshots that has it.
    case paths([(path: RelativePath, snapshots: [ListedSnapshot])])
    /// Lines of one file, put back into the file on disk.
    case lines(LineWish)
    /// A path under a new name.
    case copy(CopyWish)
}

/// Hunks between an older and a newer version of a file.
struct LineWish: Sendable {
    let path: RelativePath
    let older: ListedSnapshot
    /// nil for the file on disk.
    let newer: ListedSnapshot?
    let hunks: Set<Int>
    /// The digest of the file on disk that the hunks were shown for, if that is the newer version.
    let digest: String?
}

/// A path of a snapshot, and where to write it.
struct CopyWish: Sendable {
    let path: RelativePath
    let snapshot: ListedSnapshot
    let target: FilePath
}

/// A planned restore.
struct RestorePlan: Sendable {
    /// An action that the plan shows.
    struct Action: Sendable {
        let kind: RestoreAction.Kind
        let path: RelativePath
        let bytes: UInt64
    }

    let wish: RestoreWish
    let root: ArchivedRoot
    /// The paths to restore; several snapshots may have them.
    private(set) var wanted: [WantedPath] = []
    private(set) var actions: [Action] = []
    /// How many paths are left alone because they are excluded from snapshots.
    private(set) var excluded = 0
    /// What else to know before the restore, each a sentence.
    private(set) var warnings: [String] = []
    /// For lines: what changes in the file on disk.
    private(set) var hunks: [DiffAnswer.Hunk] = []
    /// For lines: the digest of the present content, and the new content.
    private(set) var rewriting: (present: String, content: [UInt8])?
    /// A digest of the plan and of the files that it affects; a different one means that the tree has changed.
    private(set) var digest = ""

    private static let pathLimit = 1000

    /// Plans a restore.
    init(_ wish: RestoreWish, in archive: Archive) throws {
        self.wish = wish
        switch wish {
        case .paths(let paths):
            root = try RestorePlan.root(of: paths)
            try plan(paths, in: archive)
        case .lines(let lines):
            root = lines.older.root
            try plan(lines, in: archive)
        case .copy(let copy):
            root = copy.snapshot.root
            try plan(copy, in: archive)
        }
    }

    private static func root(of paths: [(path: RelativePath, snapshots: [ListedSnapshot])]) throws -> ArchivedRoot {
        guard let root = paths.first?.snapshots.first?.root, paths.count <= pathLimit else {
            throw Refusal.bad("name between 1 and \(pathLimit) paths")
        }
        return root
    }

    // MARK: Paths

    private mutating func plan(
        _ paths: [(path: RelativePath, snapshots: [ListedSnapshot])], in archive: Archive
    ) throws {
        for (path, snapshots) in paths {
            let holder = try snapshots.first { try archive.entry(at: path, in: $0) != nil }
            guard let holder else {
                warnings.append("'\(path)' is at none of these moments, and is left as it is")
                continue
            }
            wanted.append(WantedPath(path, in: holder))
        }
        guard !wanted.isEmpty else {
            let names = paths.prefix(3).map { "'\($0.path)'" }.joined(separator: ", ")
            throw Refusal.notFound("none of these moments has \(names)")
        }
        // A path inside another one of the same snapshot is restored with that.
        wanted = wanted.filter { one in
            !wanted.contains { $0.snapshot.id == one.snapshot.id && $0.path != one.path && $0.path.contains(one.path) }
        }.sorted { $0.path < $1.path }
        let found = Locked<[RestoreAction]>([])
        let result = try archive.restore(wanted, RestoreOptions(isDryRun: true)) { action in
            found.withLock { $0.append(action) }
        }
        excluded = result.excluded
        warnings += result.warnings
        actions = found.withLock { $0 }.map { Action(kind: $0.kind, path: $0.path, bytes: $0.bytes) }
        let root = root
        digest = RestorePlan.digest(of: actions) { root.path.bytes + [UInt8(ascii: "/")] + $0.bytes }
    }

    // MARK: Lines

    private mutating func plan(_ lines: LineWish, in archive: Archive) throws {
        let path = lines.path
        func text(_ snapshot: ListedSnapshot) throws -> [UInt8] {
            guard let entry = try archive.entry(at: path, in: snapshot), entry.kind == .file else { return [] }
            guard entry.size <= Blame.limit else { throw RestorePlan.tooLarge(path) }
            return try archive.read(entry, range: 0..<entry.size)
        }
        let present = try archive.presentFile(at: path, in: root, limit: Blame.limit)
        guard let present, let bytes = present.bytes else {
            throw Refusal(
                409, "noFile", "there is no such file on disk now, or it is too large to change single lines",
                remedy: "restore the whole file")
        }
        let digest = DiffAnswer.digest(of: bytes)
        if lines.newer == nil, lines.digest != digest {
            throw Refusal(
                409, "fileChanged", "the file has changed since it was compared",
                remedy: "look at the new comparison, and choose again")
        }
        let (older, newer) = (try text(lines.older), try lines.newer.map(text) ?? bytes)
        guard ![older, newer, bytes].contains(where: TextLines.isBinary) else {
            throw Refusal.bad("'\(path)' is not a text file")
        }
        let outcome = PutBack(older: TextLines(older), newer: TextLines(newer))
            .apply(lines.hunks, to: TextLines(bytes))
        switch outcome {
        case .isThere: return
        case .hasChanged:
            throw Refusal(
                409, "linesChanged", "the file on disk is different at this place now",
                remedy: "compare with the file on disk, and choose the lines there")
        case .text(let content):
            rewriting = (digest, content)
            hunks = DiffAnswer.hunks(TextLines(bytes), TextLines(content)).hunks
            actions = [Action(kind: .replace, path: path, bytes: UInt64(content.count))]
            self.digest = digest + DiffAnswer.digest(of: content)
        }
    }

    private static func tooLarge(_ path: RelativePath) -> Refusal {
        Refusal.bad("'\(path)' is larger than \(Blame.limit >> 20) MiB: only the whole file can be restored")
    }

    // MARK: Copies

    private mutating func plan(_ copy: CopyWish, in archive: Archive) throws {
        guard let entry = try archive.entry(at: copy.path, in: copy.snapshot) else {
            throw Refusal.notFound("snapshot \(copy.snapshot.id.short) holds nothing at '\(copy.path)'")
        }
        guard RestorePlan.present(copy.target) == RestorePlan.nothing else {
            throw Refusal(409, "exists", "'\(copy.target)' exists already", remedy: "choose another name")
        }
        try RootDirectory.checkIsOutside(
            archive.directory, RootDirectory.resolvedAsFarAsItExists(copy.target), as: copy.target)
        wanted = [WantedPath(copy.path, in: copy.snapshot)]
        let found = Locked<[RestoreAction]>([])
        let result = try archive.restore(copy.snapshot, options(copy, entry, isDryRun: true)) { action in
            found.withLock { $0.append(action) }
        }
        warnings = result.warnings
        actions = found.withLock { $0 }.map { Action(kind: $0.kind, path: $0.path, bytes: $0.bytes) }
        digest = RestorePlan.digest(of: actions) { _ in copy.target.bytes }
    }

    private func options(_ copy: CopyWish, _ entry: Entry, isDryRun: Bool) -> RestoreOptions {
        RestoreOptions(
            path: copy.path, target: copy.target, targetIsFile: entry.kind != .directory, isDryRun: isDryRun)
    }

    // MARK: Applying

    /// Restores as planned.
    func apply(in archive: Archive) throws -> RestoreResult {
        switch wish {
        case .paths: return try archive.restore(wanted)
        case .lines(let lines):
            return try archive.rewrite(lines.path, in: root) { present in
                guard let rewriting else { return nil }
                guard DiffAnswer.digest(of: present) == rewriting.present else {
                    throw Refusal(409, "fileChanged", "the file has changed since this plan was made; plan again")
                }
                return rewriting.content
            }
        case .copy(let copy):
            guard let entry = try archive.entry(at: copy.path, in: copy.snapshot) else {
                throw Refusal.notFound("snapshot \(copy.snapshot.id.short) holds nothing at '\(copy.path)'")
            }
            return try archive.restore(copy.snapshot, options(copy, entry, isDryRun: false))
        }
    }

    /// What was done, as a sentence without its subject.
    var text: String {
        switch wish {
        case .paths: "restored \(wanted.count == 1 ? "1 path" : "\(wanted.count) paths")"
        case .lines(let lines): "put lines back into \(lines.path)"
        case .copy(let copy): "wrote a copy to \(copy.target)"
        }
    }

    private static func digest(of actions: [Action], _ path: (RelativePath) -> [UInt8]) -> String {
        var hash = SHA256()
        for action in actions {
            let present = RestorePlan.present(FilePath(bytes: path(action.path)))
            hash.update(
                data: Array("\(action.kind.rawValue) \(action.bytes) \(present) ".utf8) + action.path.bytes + [0])
        }
        return Base64URL.encoded(Array(hash.finalize().prefix(12)))
    }

    private static let nothing = "nothing"

    /// Returns a fingerprint of the file at a path; programs cannot set its change time (inode(7)).
    private static func present(_ path: FilePath) -> String {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { return nothing }
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
