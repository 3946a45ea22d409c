// Purging: rewrites snapshots without the target, rewrites every segment that holds anything unneeded, then verifies
// every byte.

internal import ArchiveFormat
internal import ArchiveStorage
public import Archives
internal import FileIO
internal import Glibc
public import Roots
internal import SnapshotTree
public import SystemPackage

extension Archive {
    /// Returns what purging `target` would do.
    ///
    /// - Throws: `ArchiverError`: `noSuchPath` if no snapshot has any of it.
    public func plannedPurge(
        of target: PurgeTarget, isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: OperationProgress? = nil
    ) throws(ArchiverError) -> PurgeResult {
        try facing {
            var purge = try Purge(target, isDryRun: true, store, isCancelled, progress)
            try purge.find()
            return purge.result
        }
    }

    /// Removes `target` from all history, for good: no command restores it.
    ///
    /// Snapshots that have it are replaced by ones without it, with the same time and label and new ids. A saved state
    /// that has it is removed completely, and so is a forgotten snapshot or state that has it or lists its removal. The
    /// directory itself is not touched: the next capture captures again what is still there.
    ///
    /// The purge can be cancelled or killed at any moment: nothing else is lost, and the same call finishes the work.
    ///
    /// - Parameters:
    ///   - directory: the archive's directory; nil for `defaultDirectory`.
    ///   - isCancelled: polled; true ends the purge early.
    ///   - progress: counters: first entries visited, then bytes of segments.
    /// - Throws: `ArchiverError`: `noSuchPath` if no snapshot has any of it, `inUse` while another process has the
    ///   archive open, `damaged` if damage hides what is still needed, `noSpace`, `readOnly`, `cancelled`.
    public static func purge(
        _ target: PurgeTarget, in directory: FilePath? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> PurgeResult {
        try facing {
            let directory = try (directory ?? defaultDirectory).absolute
            let use = try SoleUse(of: directory)
            let store = try use.open()
            try store.requireWritable()
            // The next process that opens the archive reserves it again.
            Ballast(store.layout).release()
            // An interrupted call may have left some of the replaced snapshots in the catalogue, and others not.
            try Reclaimer(store).tidy()
            try Purge.requireOneFileEach(store)
            try Purge.requireLocal(store)
            var purge = try Purge(target, isDryRun: false, store, isCancelled, progress)
            try purge.find()
            try purge.remove()
            let cleaned = try use.reopen(store)
            try purge.verify(cleaned)
            try purge.certify(cleaned)
            try purge.rewrite.mark.end()
            return purge.result
        }
    }
}

/// One purge.
private struct Purge {
    private let store: ArchiveStore
    private let target: PurgeTarget
    private let isCancelled: @Sendable () -> Bool
    private let progress: OperationProgress?
    fileprivate var rewrite: HistoryRewrite
    /// Records that no segment may hold afterwards.
    private var gone: Set<ChunkID> = []
    /// Forgotten records that cannot be brought back any more: their remains are removed, too.
    private var lost: Set<ChunkID> = []
    /// Records that are already forgotten as purged.
    private var forgottenBefore: Set<ChunkID> = []
    /// The records with the text to purge; nil if the target is files.
    private var written: WrittenRecords?
    private(set) var result: PurgeResult

    private static let stillThereLimit = 10

    init(
        _ target: PurgeTarget, isDryRun: Bool, _ store: ArchiveStore, _ isCancelled: @escaping @Sendable () -> Bool,
        _ progress: OperationProgress?
    ) throws {
        self.store = store
        self.target = target
        self.isCancelled = isCancelled
        self.progress = progress
        let search = try PurgeSearch(target, in: store, progress)
        rewrite = HistoryRewrite(
            search, UnfinishedPurge(store.layout, of: target.id(search.matcher)), in: store, isCancelled: isCancelled)
        result = PurgeResult(isDryRun: isDryRun)
    }

    /// Throws if there are files that a purge would leave alone: they may hold the target.
    static func requireOneFileEach(_ store: ArchiveStore) throws {
        if try store.catalogue.copiedSegments().isEmpty { return }
        throw ArchiverError(
            .damaged, "several files below \(store.layout.segments.path) have the same segment id; nothing was purged",
            remedy: Advice.moveUnread.text)
    }

    /// Throws if segments are only in a replica: they may hold the target, and are not rewritten there.
    static func requireLocal(_ store: ArchiveStore) throws {
        let away = try store.catalogue.awaySegments().count
        if away == 0 { return }
        throw ArchiverError(
            .replica,
            "\(away == 1 ? "1 segment is" : "\(away) segments are") only in a replica and may hold what is to be purged; "
                + "nothing was purged",
            remedy: Advice.fetchSegments.text)
    }

    /// Finds the target and, unless this is a dry run, rewrites the snapshots that have it.
    mutating func find() throws {
        let segments = try store.catalogue.segments()
        result.segmentsBefore = segments.map(\.path).sorted()
        result.bytesBefore = segments.reduce(0) { $0 + UInt64($1.indexedLength) }
        for root in try store.catalogue.roots() where isMeant(root) {
            let listed = try store.catalogue.snapshots(Catalogue.SnapshotFilter(of: root.number))
            try rewrite.run(listed.sorted(by: Purge.isBefore), isDryRun: result.isDryRun)
        }
        try findForgotten()
        try findStates()
        try findWritten()
        result.replaced = try replaced()
        result.names = rewrite.names.sorted { $0.key < $1.key }.map { (path: $0.key, snapshots: $0.value) }
        // A purge that was killed late leaves nothing listed, but perhaps files.
        if result.replaced.isEmpty, gone.isEmpty, result.records == 0, !rewrite.mark.exists {
            throw ArchiverError(
                .noSuchPath,
                target.isText ? "no label, note, mark or pin has this text" : "no snapshot has anything to purge",
                remedy: Advice.searchNames.text)
        }
        try findStillThere()
    }

    private func isMeant(_ root: ListedRoot) -> Bool {
        guard let wanted = target.root else { return true }
        return wanted.path.bytes == root.path && wanted.machine == root.machine
    }

    private static func isBefore(_ one: ListedSnapshot, _ other: ListedSnapshot) -> Bool {
        (one.sequence, one.time, one.id.chunk) < (other.sequence, other.time, other.id.chunk)
    }

    // MARK: Finding

    /// Returns the replacements, with those of an interrupted earlier call.
    private mutating func replaced() throws -> [SnapshotID: SnapshotID] {
        var replaced = rewrite.replaced
        if result.isDryRun { return replaced }
        for (old, new) in try rewrite.mark.replaced() where replaced[old] == nil {
            // The earlier call ended before it forgot this snapshot.
            guard try !store.catalogue.hasSnapshot(old), try store.catalogue.hasSnapshot(new) else { continue }
            replaced[old] = new
            result.earlier += 1
        }
        return replaced
    }

    /// Finds the forgotten snapshots and saved states that have the target, and all that an earlier call replaced.
    private mutating func findForgotten() throws {
        var search = rewrite.search
        for forgotten in try store.catalogue.forgotten() where try store.catalogue.location(of: forgotten.id) != nil {
            if forgotten.reason == .purged {
                gone.insert(forgotten.id)
                forgottenBefore.insert(forgotten.id)
                continue
            }
            switch try isTouched(forgotten.id, &search) {
            case true?:
                gone.insert(forgotten.id)
                result.forgotten += 1
            case false?: continue
            case nil: lost.insert(forgotten.id)
            }
        }
    }

    /// Whether a forgotten record has the target.
    ///
    /// - Returns: nil if a part of the record is lost, so that the answer is unknown.
    private func isTouched(_ id: ChunkID, _ search: inout PurgeSearch) throws -> Bool? {
        do {
            switch try store.forgottenValue(id) {
            case .snapshot(let listed):
                let root = try store.catalogue.root(path: listed.rootPath, machine: listed.machine)
                return try root.map(isMeant) ?? true && search.touches(store.snapshot(listed.id))
            case .state(let state):
                guard concernsStates else { return false }
                return try search.touches(store.stateRecord(state.id))
            case nil: return false
            }
        } catch let error as StorageError {
            guard error.code == .damaged, error.path != store.layout.catalogue else { throw error }
            return nil
        }
    }

    private mutating func findStates() throws {
        guard concernsStates else { return }
        var search = rewrite.search
        for id in try store.catalogue.stateIDs() {
            let state = try store.stateRecord(id)
            guard try search.touches(state) else { continue }
            gone.insert(id.chunk)
            result.states += 1
            // Only the label is purged: the state stays.
            if search.matcher.text != nil, !result.isDryRun {
                try store.replaceLabel(of: state, id, by: nil)
                forgottenBefore.insert(id.chunk)
            }
        }
    }

    private var concernsStates: Bool {
        switch target {
        case .content, .text: true
        case .paths, .pattern: false
        }
    }

    /// Finds the records that a person wrote and that contain the text to purge.
    private mutating func findWritten() throws {
        guard target.isText else { return }
        var records = WrittenRecords(store, rewrite.search.matcher)
        try records.find()
        written = records
        result.records = records.count
    }

    private mutating func findStillThere() throws {
        for (path, _) in result.names where result.stillThere.count < Purge.stillThereLimit {
            for root in try store.catalogue.roots() where isMeant(root) && root.machine == Machine.id {
                let place = FilePath(bytes: root.path + [UInt8(ascii: "/")] + path.bytes)
                var status = stat()
                if place.withPlatformString({ lstat($0, &status) }) == 0 { result.stillThere.append(place) }
            }
        }
    }

    // MARK: Removing

    /// Forgets the replaced snapshots and every other record with the target, and removes them from all segments.
    mutating func remove() throws {
        try rewrite.finish()
        let matcher = rewrite.search.matcher
        try written?.remove()
        var records = RecordRewrite(store, result.replaced, gone: written?.gone ?? [], matcher)
        try records.run { operation in
            let parts = operation.allParts
            guard parts.contains(where: { !$0.isRoot && matcher.names($0, isDirectory: true) }) else { return false }
            let root = try store.catalogue.root(path: operation.rootPath, machine: operation.machine)
            return root.map(isMeant) ?? false
        }
        result.operations = records.gone.count - (written?.gone.count ?? 0)
        gone.formUnion(rewrite.replaced.keys.map(\.chunk))
        gone.formUnion(lost)
        // A replaced snapshot was forgotten in the commit of its replacement.
        forgottenBefore.formUnion(rewrite.replaced.keys.map(\.chunk))
        try store.forget(gone.subtracting(forgottenBefore), reason: .purged)
        gone.formUnion(records.gone)
        try reclaim()
        try removeSalvage()
    }

    private func reclaim() throws {
        var options = Reclaimer.Options()
        options.purged = gone
        options.isCancelled = isCancelled
        options.onProgress = { [progress] done, all in
            progress?.expect(entries: nil, bytes: UInt64(all))
            progress?.set(bytes: UInt64(done))
        }
        let since = Timestamp(seconds: Timestamp.now.seconds - Archive.defaultGrace.components.seconds)
        var mark = LiveMark(store, progress, isCancelled: isCancelled)
        let reclaimer = try Reclaimer(store, options)
        _ = try reclaimer.run { live in
            try mark.run(protecting: ForgottenSpan(since: since), without: gone) { live.insert($0) }
        }
    }

    /// Removes the salvaged ends of damaged segments: their contents are unknown.
    private func removeSalvage() throws {
        let salvage = store.layout.salvage
        let folder: Descriptor
        do throws(FileError) { folder = try salvage.openDirectory() } catch {
            if error.code == .noSuchFileOrDirectory { return }
            throw error
        }
        for item in try DirectoryReader.list(folder, path: .root) {
            let path = salvage.path.pushing(FilePath(bytes: item.name))
            try folder.removeFile(CName(item.name), path: path)
        }
        try folder.synchronize(path: salvage.path)
    }

    // MARK: Verifying

    /// Verifies every byte of the archive from scratch.
    mutating func verify(_ cleaned: ArchiveStore) throws {
        let segments = try cleaned.catalogue.segments()
        result.segmentsAfter = segments.map(\.path).sorted()
        result.bytesAfter = segments.reduce(0) { $0 + UInt64($1.indexedLength) }
        var found = PurgeResult.Verification()
        var verification = try PurgeVerification(cleaned, target, progress)
        try verification.run(gone: gone, nodes: rewrite.search.touchedNodes, contents: rewrite.contents, &found)
        result.verification = found
    }

    /// Writes the certificate.
    mutating func certify(_ cleaned: ArchiveStore) throws {
        result.certificate = try PurgeCertificate(target, result, digest: rewrite.search.matcher.content)
            .write(to: cleaned.layout)
    }
}
