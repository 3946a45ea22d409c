// Compares a replica with the archive: what must be there, with its length, and on request every byte.

package import Age
internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import ObjectStore
package import Roots
internal import SystemPackage

/// What a check of a replica found.
package struct ReplicaCheckResult: Sendable {
    package var objects = 0
    package var bytes: UInt64 = 0
    /// What was wrong and has been sent again; each a sentence.
    package var mended: [String] = []
    /// What is wrong still; each a sentence.
    package var problems: [String] = []
    /// Segments that only the replica has, as those lost here; each a sentence.
    package var onlyThere: [String] = []
    /// Objects that are no part of a replica.
    package var strangers: [String] = []
}

extension Replicator {
    /// Compares the replica with the archive, and sends again what is missing.
    ///
    /// - Parameter identities: reads and compares every byte with these; nil to compare names and lengths.
    package func check(
        readingWith identities: [AgeIdentity]? = nil, progress: OperationProgress? = nil
    ) throws(ArchiverError) -> ReplicaCheckResult {
        let reader = try identities.map { given throws(ArchiverError) in try ReplicaReader(objects, given) }
        var result = ReplicaCheckResult()
        // What was committed since is sent first, so that it is not reported.
        let before = try send()
        try facingStore {
            let lock = try FileLock.exclusive(store.layout.lock("replica-\(name).lock"))
            defer { withExtendedLifetime(lock) {} }
            let inventory = try ReplicaInventory(objects)
            result.strangers = inventory.strangers
            var known = try ReplicaProgress.read(name.text, in: store.layout) ?? ReplicaProgress()
            progress?.expect(entries: nil, bytes: reader == nil ? nil : inventory.bytes)
            let rows = try store.catalogue.segments()
            for row in rows {
                for problem in try problems(of: row, known, inventory, reader, &result, progress) {
                    try forget(problem, of: row.path, &known, &result)
                }
            }
            try checkCheckpoint(inventory, reader, &known, &result)
            let present = Set(rows.map(\.path))
            for path in inventory.paths where !present.contains(path) && known.dropped[path] == nil {
                let id = SegmentName(path: path)?.segment
                if try id.map({ try store.catalogue.isDropped($0) }) ?? false { continue }
                result.onlyThere.append("segment \(path) is in the replica and not in this archive")
            }
            try known.write(name.text, in: store.layout)
        }
        let found = result.mended
        if !found.isEmpty {
            let pass = try send()
            result.problems += pass.problems
        }
        result.problems += before.problems
        try facing {
            var progress = try ReplicaProgress.read(name.text, in: store.layout) ?? ReplicaProgress()
            progress.checked = .now
            if identities != nil { progress.checkedData = .now }
            try progress.write(name.text, in: store.layout)
        }
        return result
    }

    /// An object that is missing or wrong.
    private struct Problem {
        let object: ReplicaObject
        let reason: String
        let isThere: Bool
    }

    private func problems(
        of row: ListedSegment, _ known: ReplicaProgress, _ inventory: ReplicaInventory, _ reader: ReplicaReader?,
        _ result: inout ReplicaCheckResult, _ progress: OperationProgress?
    ) throws -> [Problem] {
        var problems: [Problem] = []
        if known.whole.contains(row.path) {
            let object = ReplicaObject.segment(path: row.path)
            result.objects += 1
            guard let length = inventory.segments[row.path] else {
                return [Problem(object: object, reason: "is missing", isThere: false)]
            }
            result.bytes += length
            let expected = sealer.objectLength(ofContent: row.indexedLength)
            if length != expected {
                problems.append(
                    Problem(object: object, reason: "has \(length) bytes, not \(expected)", isThere: true))
            } else if let reader, let reason = try difference(object, length, 0, row, reader) {
                problems.append(Problem(object: object, reason: reason, isThere: true))
            }
            progress?.add(bytes: length)
            return problems
        }
        guard let sent = known.pieces[row.path]?.sentBytes, sent > 0 else { return [] }
        let chain = inventory.chain(of: row.path)
        for piece in chain {
            let object = piece.object(of: row.path)
            result.objects += 1
            result.bytes += piece.objectBytes
            progress?.add(bytes: piece.objectBytes)
            let expected = sealer.objectLength(ofContent: piece.length)
            if piece.objectBytes != expected {
                problems.append(
                    Problem(object: object, reason: "has \(piece.objectBytes) bytes, not \(expected)", isThere: true))
            } else if let reader, piece.end <= row.indexedLength,
                let reason = try difference(object, piece.objectBytes, piece.offset, row, reader)
            {
                problems.append(Problem(object: object, reason: reason, isThere: true))
            }
        }
        let end = chain.last?.end ?? 0
        if end < sent {
            let object = ReplicaObject.piece(path: row.path, offset: end, length: sent - end)
            problems.append(Problem(object: object, reason: "is missing", isThere: false))
        }
        return problems
    }

    /// Lets the newest checkpoint be made again if it is missing or wrong: the segments are complete without it.
    private func checkCheckpoint(
        _ inventory: ReplicaInventory, _ reader: ReplicaReader?, _ known: inout ReplicaProgress,
        _ result: inout ReplicaCheckResult
    ) throws {
        guard let checkpoint = known.checkpoint else { return }
        let object = ReplicaObject.checkpoint(name: checkpoint.name)
        let length = inventory.checkpoints.first { $0.name == checkpoint.name }?.bytes
        var reason: String?
        if let length {
            result.objects += 1
            result.bytes += length
            if length != checkpoint.bytes { reason = "has \(length) bytes, not \(checkpoint.bytes)" }
            if reason == nil, let reader {
                do throws(ArchiverError) {
                    try reader.open(object, length: length, readsAll: true).readAll { _, _ in }
                } catch {
                    guard error.code == .damaged else { throw error }
                    reason = "cannot be read: \(error.message)"
                }
            }
        } else {
            reason = "is missing"
        }
        guard let reason else { return }
        known.checkpoint = nil
        if length != nil, settings.abilities.deletes { try deleteCheckpoints([checkpoint.name]) }
        _ = try makeCheckpoint(&known) { _ in true }
        result.mended.append("\(object.text) \(reason)")
    }

    /// How an object differs from the archive's segment; nil if it does not.
    private func difference(
        _ object: ReplicaObject, _ length: UInt64, _ offset: Int, _ row: ListedSegment, _ reader: ReplicaReader
    ) throws -> String? {
        // What is not on the local disk has no other copy: the signature covers every byte.
        let segment = try store.joined?.listed()[row.path] == nil ? store.open(row) : nil
        do throws(ArchiverError) {
            var differing: Int?
            try reader.open(object, length: length, readsAll: true).readAll { bytes, position in
                guard differing == nil, let segment else { return }
                let local = try segment.read(at: offset + position, count: bytes.count)
                if local != bytes { differing = offset + position }
            }
            return differing.map { "differs from the archive's segment, at byte \($0)" }
        } catch {
            guard error.code == .damaged else { throw error }
            return "cannot be read: \(error.message)"
        }
    }

    /// Lets an object be sent again; a wrong one is deleted first.
    private func forget(
        _ problem: Problem, of path: String, _ known: inout ReplicaProgress, _ result: inout ReplicaCheckResult
    ) throws {
        let sentence = "\(problem.object.text) \(problem.reason)"
        if try store.joined?.listed()[path]?.replica == name.text {
            // It is the only copy: a part of it may still be readable.
            result.problems.append("\(sentence), and the segment is not on the local disk: part of the history is lost")
            return
        }
        if problem.isThere {
            guard let objectName = problem.object.name else { return }
            do { try objects.delete(objectName) } catch {
                guard error.code == .notAllowed else { throw error }
                result.problems.append("\(sentence); these credentials may not delete it")
                return
            }
        }
        switch problem.object {
        case .checkpoint: break
        case .segment: known.whole.remove(path)
        case .piece(_, let offset, _):
            guard var pieces = known.pieces[path] else { return }
            pieces.sentBytes = min(offset, pieces.sentBytes)
            pieces.isFinal = false
            known.pieces[path] = pieces
        }
        result.mended.append(sentence)
    }

    // MARK: Pruning

    /// What a prune of a replica deleted, or would delete.
    package struct Pruned: Sendable {
        package var objects = 0
        package var bytes: UInt64 = 0
        /// Segments whose grace has not ended.
        package var waiting = 0
    }

    /// Deletes the segments that a prune has dropped here longer than `grace` ago, and pieces of segments that are there
    /// as a whole.
    package func prune(grace: Duration, isDryRun: Bool = false) throws(ArchiverError) -> Pruned {
        // What was copied out of them must be there first.
        let pass = try send()
        if let problem = pass.problems.first {
            throw ArchiverError(
                .replica, "nothing is deleted, as the replica '\(name)' is not complete: \(problem)",
                remedy: Advice.checkReplica.text)
        }
        return try facingStore {
            let lock = try FileLock.exclusive(store.layout.lock("replica-\(name).lock"))
            defer { withExtendedLifetime(lock) {} }
            let inventory = try ReplicaInventory(objects)
            var known = try ReplicaProgress.read(name.text, in: store.layout) ?? ReplicaProgress()
            try renewCheckpoint(inventory, &known, isDryRun: isDryRun)
            let end = Timestamp.now.seconds - grace.components.seconds
            var pruned = Pruned()
            func delete(_ object: ReplicaObject, _ bytes: UInt64) throws {
                if !isDryRun, let objectName = object.name { try objects.delete(objectName) }
                pruned.objects += 1
                pruned.bytes += bytes
            }
            for path in inventory.paths {
                guard let id = SegmentName(path: path)?.segment else { continue }
                var isDue = false
                if try store.catalogue.isDropped(id) {
                    let since = known.dropped[path] ?? .now
                    known.dropped[path] = since
                    isDue = since.seconds <= end
                    if !isDue { pruned.waiting += 1 }
                }
                if isDue || known.whole.contains(path) && inventory.segments[path] != nil {
                    for piece in inventory.pieces[path] ?? [] {
                        try delete(piece.object(of: path), piece.objectBytes)
                    }
                }
                guard isDue else { continue }
                if let bytes = inventory.segments[path] { try delete(.segment(path: path), bytes) }
                if isDryRun { continue }
                known.whole.remove(path)
                known.pieces[path] = nil
                known.dropped[path] = nil
            }
            if !isDryRun { try known.write(name.text, in: store.layout) }
            return pruned
        }
    }

    /// Replaces the checkpoints if they list segments that a prune has dropped here: after a purge, they have its names.
    private func renewCheckpoint(
        _ inventory: ReplicaInventory, _ known: inout ReplicaProgress, isDryRun: Bool
    ) throws {
        if isDryRun || inventory.checkpoints.isEmpty { return }
        let hasDropped = try inventory.paths.contains { path in
            try SegmentName(path: path).map { try store.catalogue.isDropped($0.segment) } ?? false
        }
        if !hasDropped { return }
        let isNew = try makeCheckpoint(&known) { _ in true }
        if !isNew { known.checkpoint = nil }
        try deleteCheckpoints(inventory.checkpoints.map(\.name))
    }
}
