// What the replica commands say.

internal import ArchiverKit
internal import FileIO
internal import Replicas

/// Texts about replicas.
enum ReplicaText {
    /// "replica disk: up to date, checked 2026-11-21 10:15:30, tested never; file:///mnt/disk".
    static func line(_ replica: ReplicaStatus) -> String {
        "replica \(replica.name): \(state(replica)); checked \(time(replica.checked)), tested \(time(replica.tested)); "
            + Escaping.text(replica.address)
    }

    static func state(_ replica: ReplicaStatus) -> String {
        if replica.missingBytes == 0 { return replica.completeUntil == nil ? "empty" : "up to date" }
        let until = replica.completeUntil.map { "it has everything until \(LocalTime.text($0))" } ?? "never complete"
        return "\(ByteCount.text(replica.missingBytes)) behind, \(until)"
    }

    private static func time(_ time: Timestamp?) -> String { time.map { LocalTime.text($0) } ?? "never" }

    static var listing: Listing<ReplicaStatus> {
        Listing(
            [
                .text("NAME") { $0.name },
                .text("STATE", person: { state($0) }, pipe: { "\($0.missingBytes)" }),
                .time("COMPLETE UNTIL", dispensability: 1) { $0.completeUntil },
                .time("CHECKED", dispensability: 2) { $0.checked },
                .time("TESTED", dispensability: 3) { $0.tested },
                .text("ADDRESS", isElastic: true) { Escaping.text($0.address) },
            ],
            emptiness: "The archive has no replica: 'archiver replica add' adds one.",
            json: { ReplicaStatusJSON($0) })
    }

    static func sent(_ pass: ReplicaPassJSON) -> String {
        pass.pass.objects == 0
            ? "'\(pass.name)' has everything"
            : "sent \(ByteCount.text(pass.pass.bytes)) in \(Plural.of(pass.pass.objects, "object")) to '\(pass.name)', "
                + (pass.pass.problems.isEmpty ? "which has everything now" : "which does not have everything")
    }

    static func fetched(_ result: FetchResult) -> String {
        result.segments == 0
            ? "all segments are on this disk"
            : "fetched \(ByteCount.text(result.bytes)) in \(Plural.of(result.segments, "segment"))"
    }

    static func abilities(_ added: AddedReplica) -> [String] {
        var lines: [String] = []
        if !added.abilities.refusesToOverwrite {
            lines.append("The store replaces objects: only one machine may ever use this address.")
        }
        if !added.abilities.deletes {
            lines.append("These credentials may not delete: pieces of segments stay, and 'replica prune' needs others.")
        }
        if added.wasThere { lines.append("It has objects of this archive, which are used.") }
        return lines
    }

    static func checked(_ check: ReplicaCheckJSON) -> String {
        let result = check.result
        let work =
            "\(Plural.of(result.objects, "object")), \(ByteCount.text(result.bytes))"
            + (check.hasReadData ? ", every byte read" : "")
        if result.problems.isEmpty && result.mended.isEmpty { return "'\(check.name)': all is well: \(work)" }
        let mended = result.mended.isEmpty ? "" : "; \(Plural.of(result.mended.count, "object")) sent again"
        let verdict = result.problems.isEmpty ? "all is well now" : Plural.of(result.problems.count, "finding")
        return "'\(check.name)': \(verdict): \(work)\(mended)"
    }

    static func details(_ check: ReplicaCheckJSON) -> [String] {
        let result = check.result
        return (result.problems + result.mended.map { "\($0): sent again" } + result.onlyThere).map {
            Escaping.text($0)
        }
            + (result.strangers.isEmpty
                ? [] : ["\(Plural.of(result.strangers.count, "object")) of '\(check.name)' are no part of a replica"])
    }

    static func tested(_ test: ReplicaTestJSON) -> String {
        let result = test.result
        let verdict = result.problems.isEmpty ? "equal those of the archive" : "were compared"
        return "'\(test.name)': \(Plural.of(result.files, "random file")) (\(ByteCount.text(result.bytes))) of "
            + "\(Plural.of(result.snapshots, "snapshot")), read from the replica alone, \(verdict)"
    }

    static func pruned(_ result: ReplicaPruneJSON) -> String {
        let verb = result.isDryRun ? "would delete" : "deleted"
        let waiting =
            result.pruned.waiting > 0
            ? "; \(Plural.of(result.pruned.waiting, "dropped segment")) stay until their grace ends" : ""
        return "'\(result.name)': \(verb) \(Plural.of(result.pruned.objects, "object")), "
            + "\(ByteCount.text(result.pruned.bytes))\(waiting)"
    }

    static func cloned(_ result: ReplicaClone.Result, of host: String) -> String {
        let until = result.time.map { ", as it was at \(LocalTime.text($0.time))" } ?? ""
        let kept = result.keptSegments > 0 ? ", \(result.keptSegments) of them fetched before" : ""
        return "cloned the archive of \(Escaping.text(host))\(until): \(Plural.of(result.segments, "segment"))\(kept), "
            + ByteCount.text(result.bytes)
    }
}
