// The checks that must pass after any fault.

import Foundation
import Glibc
import SystemPackage
import TestSupport

extension FaultPlace {
    /// Checks that every announced snapshot is listed, every other one restores one of `states`, and `check` passes.
    ///
    /// - Parameter new: a snapshot that the command announced, of the tree before it.
    func checkArchive(new: String? = nil, states: [FilePath]) throws {
        let listed = try listed()
        for id in announced + (new.map { [$0] } ?? []) where !listed.contains(id) {
            throw Wrong(description: "the announced snapshot \(id.prefix(8)) is lost")
        }
        for id in listed where !announced.contains(id) {
            let restored = try restored(id)
            // The snapshot has the last known state of a path that could not be read.
            let excepted = try problems(of: id)
            let differences = try states.map { try difference($0, restored, besides: excepted) }
            if !differences.contains(where: \.isEmpty) {
                throw Wrong(description: "snapshot \(id.prefix(8)) matches none of the expected states: \(differences)")
            }
        }
        try checkSoundness()
    }

    /// Checks that every announced snapshot restores byte for byte.
    func checkAnnounced() throws {
        for (index, id) in announced.enumerated() {
            let difference = try difference(kept(index), restored(id))
            if !difference.isEmpty { throw Wrong(description: "snapshot \(index) restores wrongly: \(difference)") }
        }
    }

    /// Checks that every announced snapshot is listed, unchanged or without `purged`; some may be listed in both forms.
    ///
    /// - Parameter isPurged: whether no snapshot may contain `purged`.
    func checkHistory(without purged: String, isPurged: Bool) throws {
        try checkSoundness()
        let rows = try JSON.array(run("list", "--json", "--root", tree.string).output)
        let times = Set(rows.compactMap { $0["time"] as? String }).sorted()
        guard times.count == announced.count, !isPurged || rows.count == times.count else {
            throw Wrong(description: "\(rows.count) snapshots of \(times.count) times are listed")
        }
        for row in rows {
            guard let id = row["id"] as? String, let index = times.firstIndex(where: { $0 == row["time"] as? String })
            else { continue }
            let tree = try restored(id)
            let isLeft = content(tree)[purged] != nil
            let difference = try difference(kept(index), tree, besides: isLeft ? [] : [purged])
            if isLeft && isPurged || !difference.isEmpty {
                throw Wrong(description: "snapshot \(index) restores wrongly: \(isLeft) \(difference)")
            }
        }
    }

    /// Checks that the next capture works and that files outside are unchanged.
    func checkAfterwards() throws {
        try write("after the fault", "now")
        let outcome = try run("capture", tree.string, "--json")
        guard outcome.status == 0, let id = try Workplace.announced(outcome) else {
            throw Wrong(description: "the next capture: exit \(outcome.status) \(outcome.errorText)")
        }
        let difference = try difference(tree, restored(id))
        if !difference.isEmpty { throw Wrong(description: "the next snapshot is not the tree: \(difference)") }
        guard content(work.appending("outside")) == ["precious": Data("untouched\n".utf8)] else {
            throw Wrong(description: "something outside was changed")
        }
    }

    /// Checks that every file of the tree is as in `old` or `wanted`, and as in `wanted` if the command succeeded.
    func checkTree(_ tree: FilePath, old: FilePath, wanted: FilePath, after outcome: ChildProcess.Outcome) throws {
        if outcome.isDone { try expectEqual(tree, wanted) }
        let (before, after) = (content(old), content(wanted))
        for (path, bytes) in content(tree) where !path.contains(".archiver-") {
            // Before the operation is complete, a power failure can leave a new file's name without its content.
            if outcome.hasLostPower, before[path] == nil { continue }
            if bytes != before[path], bytes != after[path] {
                throw Wrong(description: "\(path) is neither old nor new: \(bytes.count) bytes")
            }
        }
    }

    func expectEqual(_ tree: FilePath, _ wanted: FilePath) throws {
        let difference = try difference(wanted, tree)
        if !difference.isEmpty { throw Wrong(description: "it reported success, but the tree is wrong: \(difference)") }
    }

    /// Checks that every file of the original tree is in a snapshot.
    func checkNothingIsGone() throws {
        var left = content(originalTree)
        for id in try listed() where !announced.contains(id) {
            let kept = content(try restored(id))
            left = left.filter { kept[$0.key] != $0.value }
        }
        if !left.isEmpty { throw Wrong(description: "\(left.keys.sorted()) are in no snapshot") }
    }

    private func problems(of id: String) throws -> [String] {
        let shown = try run("show", id, "--json", "--root", tree.string)
        let problems = try JSON.object(shown.output)["problemPaths"] as? [Any] ?? []
        return problems.compactMap { ($0 as? [String: Any])?["path"] as? String ?? $0 as? String }
    }

    /// The paths at which two trees differ, except those below `excepted`.
    private func difference(_ one: FilePath, _ other: FilePath, besides excepted: [String]) throws -> [String] {
        let (one, other) = (content(one), content(other))
        return Set(one.keys).union(other.keys).filter { path in
            one[path] != other[path] && !excepted.contains { $0.isEmpty || path == $0 || path.hasPrefix($0 + "/") }
        }
    }
}

extension ChildProcess.Outcome {
    /// Whether power failed before the program ended.
    var hasLostPower: Bool { status == -SIGPWR }
    /// Whether the program reported success; with `--json` this is its last line.
    var isDone: Bool { status == 0 || (hasLostPower && output.last == UInt8(ascii: "\n")) }
}
