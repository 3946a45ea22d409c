// What must hold whatever befell the command.

import Foundation
import Glibc
import SystemPackage

extension FaultPlace {
    /// Every announced snapshot is there and restores; what else is listed is one of `states`; the archive is sound.
    ///
    /// - Parameter new: a snapshot that the command announced of the tree as it was before.
    func checkArchive(new: String? = nil, states: [FilePath]) throws {
        let listed = try listed()
        for id in announced + (new.map { [$0] } ?? []) where !listed.contains(id) {
            throw Wrong(description: "the announced snapshot \(id.prefix(8)) is lost")
        }
        for id in listed where !announced.contains(id) {
            let restored = try restored(id)
            // A path that could not be read has its last known state.
            let excepted = try problems(of: id)
            let differences = try states.map { try difference($0, restored, besides: excepted) }
            if !differences.contains(where: \.isEmpty) {
                throw Wrong(description: "snapshot \(id.prefix(8)) is no state that there was: \(differences)")
            }
        }
        try checkSoundness()
    }

    /// Every announced snapshot restores, byte for byte.
    func checkAnnounced() throws {
        for (index, id) in announced.enumerated() {
            let difference = try difference(kept(index), restored(id))
            if !difference.isEmpty { throw Wrong(description: "snapshot \(index) came back wrong: \(difference)") }
        }
    }

    /// Every announced snapshot is there, as it was or without `purged`; some may be there both ways.
    ///
    /// - Parameter isPurged: whether none has it any more.
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
                throw Wrong(description: "snapshot \(index) came back wrong: \(isLeft) \(difference)")
            }
        }
    }

    func checkSoundness() throws {
        let check = try run("check", "--data")
        if check.status != 0 { throw Wrong(description: "check: \(check.text)\(check.errorText)") }
    }

    /// The next capture works, and what is outside was left alone.
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

    /// Every file of the tree is what it was in one of two states; all are as `wanted` where the command said so.
    func checkTree(_ tree: FilePath, old: FilePath, wanted: FilePath, after outcome: ChildProcess.Outcome) throws {
        if outcome.isDone { try expectEqual(tree, wanted) }
        let (before, after) = (content(old), content(wanted))
        for (path, bytes) in content(tree) where !path.contains(".archiver-") {
            // Of a new file, a power failure may leave the name alone while the operation is not complete.
            if outcome.hasLostPower, before[path] == nil { continue }
            if bytes != before[path], bytes != after[path] {
                throw Wrong(description: "\(path) is neither old nor new: \(bytes.count) bytes")
            }
        }
    }

    func expectEqual(_ tree: FilePath, _ wanted: FilePath) throws {
        let difference = try difference(wanted, tree)
        if !difference.isEmpty { throw Wrong(description: "it said that it is done: \(difference)") }
    }

    /// All that was in the tree before is in some snapshot.
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

    /// The paths at which two trees differ, but for those below `excepted`.
    private func difference(_ one: FilePath, _ other: FilePath, besides excepted: [String]) throws -> [String] {
        let (one, other) = (content(one), content(other))
        return Set(one.keys).union(other.keys).filter { path in
            one[path] != other[path] && !excepted.contains { $0.isEmpty || path == $0 || path.hasPrefix($0 + "/") }
        }
    }
}

extension ChildProcess.Outcome {
    /// Whether power failed before the program had ended.
    var hasLostPower: Bool { status == -SIGPWR }
    /// Whether the program said that it has done everything; with `--json` that is its last line.
    var isDone: Bool { status == 0 || (hasLostPower && output.last == UInt8(ascii: "\n")) }
}
