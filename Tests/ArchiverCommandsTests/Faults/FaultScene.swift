// The commands that run with faults, and the checks after each.

import ArchiverKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A command in a place, and its promises.
struct FaultScene: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Prepares the place for the command.
    let prepare: @Sendable (FaultPlace) throws -> Void
    /// The program and its arguments.
    let words: @Sendable (FaultPlace) -> [String]
    /// Throws if a check fails; the exit status is minus SIGKILL or SIGPWR if the program was killed or lost power.
    let verify: @Sendable (FaultPlace, ChildProcess.Outcome) throws -> Void

    init(
        _ name: String, prepare: @escaping @Sendable (FaultPlace) throws -> Void,
        words: @escaping @Sendable (FaultPlace) -> [String],
        verify: @escaping @Sendable (FaultPlace, ChildProcess.Outcome) throws -> Void
    ) {
        testDescription = name
        self.prepare = prepare
        self.words = words
        self.verify = verify
    }

    static let all = captures + restores + catalogues + prunes + evictions + states

    // MARK: Captures

    static let captures = [
        capture("the first capture, which makes the archive") { _ in },
        capture("a following capture") { try $0.prepareHistory() },
        capture("a capture that seals segments") { place in
            try place.prepareHistory()
            try place.fillSegments(at: 30_000)
        },
    ]

    private static func capture(
        _ name: String, prepare: @escaping @Sendable (FaultPlace) throws -> Void
    ) -> FaultScene {
        FaultScene(
            name, prepare: prepare, words: { program + ["capture", $0.tree.string, "--json"] },
            verify: { place, outcome in
                let new = try Workplace.announced(outcome)
                if outcome.status == 0, new == nil { throw FaultPlace.Wrong(description: "exit 0, nothing announced") }
                if new != nil || place.hasArchive {
                    try place.checkArchive(new: new, states: [place.originalTree])
                }
                try place.checkAfterwards()
            })
    }

    // MARK: Restores

    static let restores = [
        FaultScene(
            "a restore in place", prepare: { try $0.prepareHistory() },
            words: { program + ["restore", $0.announced[0], "--root", $0.tree.string, "--json"] },
            verify: { place, outcome in
                let wanted = place.kept(0)
                try place.checkTree(place.tree, old: place.originalTree, wanted: wanted, after: outcome)
                try place.checkArchive(states: [place.originalTree, wanted, place.tree])
                try place.repeatUntil(wanted, ["restore", place.announced[0], "--root", place.tree.string])
                try place.checkNothingIsGone()
                try place.checkAfterwards()
            }),
        FaultScene(
            "an undo",
            prepare: { place in
                try place.prepareHistory()
                try place.capture()
                _ = try place.run("restore", place.announced[0], "--root", place.tree.string)
                try place.write("since", "work done since\n")
            },
            words: { program + ["undo", $0.tree.string, "--json"] },
            verify: { place, outcome in
                let wanted = place.kept(2)
                try place.checkTree(place.tree, old: place.originalTree, wanted: wanted, after: outcome)
                try place.checkArchive(states: [place.originalTree, wanted, place.tree, place.kept(0)])
                try place.repeatUntil(wanted, ["undo", place.tree.string])
                let redo = try place.run("redo", place.tree.string)
                let difference = try place.difference(place.originalTree, place.tree)
                guard redo.status == 0, difference.isEmpty else {
                    throw FaultPlace.Wrong(description: "redo: \(redo.errorText)\(difference)")
                }
                try place.checkAfterwards()
            }),
        FaultScene(
            "a restore into a new directory", prepare: { try $0.prepareHistory() },
            words: { program + ["restore", $0.announced[1], "--target", $0.target.string, "--json"] },
            verify: { place, outcome in
                let wanted = place.kept(1)
                try place.expectEqual(place.tree, place.originalTree)
                if outcome.isDone { try place.expectEqual(place.target, wanted) }
                try place.checkArchive(states: [place.originalTree])
                let again = try place.run("restore", place.announced[1], "--target", place.target.string)
                // A command killed at its very end has nothing left to do.
                let difference = try place.difference(wanted, place.target)
                let isDone = again.status == 0 || again.errorText.contains("not empty")
                guard isDone, difference.isEmpty else {
                    throw FaultPlace.Wrong(description: "once more: \(again.errorText)\(difference)")
                }
                try place.checkAfterwards()
            }),
    ]

    // MARK: Opening

    static let catalogues = [
        listing("opening with an older catalogue", catalogue: "cp -a \(older)/. ."),
        listing("opening without a catalogue", catalogue: ":"),
        listing("opening with garbage for a catalogue", catalogue: "seq 9999 > catalogue.sqlite"),
        listing("repair", catalogue: "cp -a \(older)/. .", ["repair", "--catalogue"]),
    ]

    private static let older = "../../older"

    private static func listing(_ name: String, catalogue: String, _ words: [String]? = nil) -> FaultScene {
        FaultScene(
            name,
            prepare: { place in
                try place.capture()
                try place.fillSegments(at: 60_000)
                try place.shell("cd \(place.archive) && mkdir \(older) && cp -a catalogue* \(older)")
                try place.edit()
                try place.capture()
                try place.editAgain()
                try place.capture()
                try place.shell("cd \(place.archive) && rm catalogue* && \(catalogue)")
            },
            words: { program + (words ?? ["list", "--json", "--root", $0.tree.string]) },
            verify: { place, outcome in
                if words == nil, outcome.status == 0 {
                    let ids = try JSON.array(outcome.output).compactMap { $0["id"] as? String }
                    if ids != place.announced {
                        throw FaultPlace.Wrong(description: "exit 0, and \(ids.count) snapshots listed")
                    }
                }
                try place.checkArchive(states: [place.originalTree])
                try place.checkAfterwards()
            })
    }

    // MARK: Reclaiming space

    static let prunes = [
        FaultScene(
            "a prune",
            prepare: { place in
                try place.capture()
                try place.fillSegments(at: 12_000)
                for number in 0..<10 {
                    try place.write("text", "version \(number)\n" + String(repeating: "\(number * 7919)\n", count: 900))
                    try place.write(
                        "noise", (0..<6_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* (number + 3) / 11) })
                    try place.capture()
                }
                try place.forget { $0 % 4 != 0 }
            },
            words: { _ in program + ["prune", "--now", "--json"] },
            verify: { place, outcome in
                try place.checkArchive(states: [])
                try place.checkAnnounced()
                let again = try place.run("prune", "--now", "--json")
                if again.status != 0 { throw FaultPlace.Wrong(description: "prune again: \(again.errorText)") }
                try place.checkArchive(states: [])
                try place.checkAnnounced()
                try place.checkAfterwards()
            }),
        FaultScene(
            "a purge",
            prepare: { place in
                try place.capture()
                try place.fillSegments(at: 12_000)
                for number in 0..<6 {
                    try place.write("text", "version \(number)\n" + String(repeating: "\(number * 7919)\n", count: 900))
                    if (2..<4).contains(number) {
                        try place.write("secret", String(repeating: "secret \(number)\n", count: 90))
                    } else if number == 4 {
                        try place.shell("rm \(place.tree)/secret")
                    }
                    try place.capture()
                }
            },
            words: { place in program + ["purge", "secret", "--root", place.tree.string, "--yes", "--json"] },
            verify: { place, outcome in
                try place.checkHistory(without: "secret", isPurged: outcome.status == 0)
                let again = try place.run("purge", "secret", "--root", place.tree.string, "--yes", "--json")
                // If everything was done, nothing is left to purge.
                guard again.status == 0 || again.errorText.contains("no snapshot has") else {
                    throw FaultPlace.Wrong(description: "purge again: \(again.status) \(again.text)\(again.errorText)")
                }
                try place.checkHistory(without: "secret", isPurged: true)
                try place.checkAfterwards()
            }),
    ]

    // MARK: Leaving the local disk

    static let evictions = [
        FaultScene(
            "a prune after which segments are only in a replica", prepare: { try $0.prepareEviction() },
            words: { _ in program + ["prune", "--json"] },
            verify: { place, outcome in
                try place.checkArchive(states: [])
                try place.checkAnnounced()
                let again = try place.run("prune", "--json")
                if again.status != 0 { throw FaultPlace.Wrong(description: "prune again: \(again.errorText)") }
                guard try place.awaySegments() > 0 else { throw FaultPlace.Wrong(description: "nothing has left") }
                try place.checkArchive(states: [])
                try place.checkAnnounced()
                try place.checkAfterwards()
            }),
        FaultScene(
            "a fetch of segments that are only in a replica",
            prepare: { place in
                try place.prepareEviction()
                for words in [["prune"], ["keep", "--local-size", "none"]] { try place.mustRun(words) }
            },
            words: { _ in program + ["replica", "fetch", "--json"] },
            verify: { place, outcome in
                try place.checkArchive(states: [])
                try place.checkAnnounced()
                try place.mustRun(["replica", "fetch"])
                guard try place.awaySegments() == 0 else { throw FaultPlace.Wrong(description: "segments are away") }
                try place.checkArchive(states: [])
                try place.checkAnnounced()
                try place.checkAfterwards()
            }),
    ]

    private static let program = [Workplace.program.string]
}

extension FaultPlace {
    /// The target of a restore into a new directory.
    fileprivate var target: FilePath { work.appending("target") }
    fileprivate var hasArchive: Bool {
        FileManager.default.fileExists(atPath: archive.appending("archive.json").string)
    }

    fileprivate func mustRun(_ words: [String]) throws {
        let outcome = try run(words)
        guard outcome.status == 0 else { throw Wrong(description: "\(words): \(outcome.text)\(outcome.errorText)") }
    }

    private func status() throws -> [String: Any] {
        let status = try JSON.object(run("status", "--json").output)
        return status["archive"] as? [String: Any] ?? [:]
    }

    fileprivate func awaySegments() throws -> Int { try status()["awaySegments"] as? Int ?? -1 }

    /// Makes an archive of several segments with a replica that has them, and lets it be too large for the disk.
    fileprivate func prepareEviction() throws {
        Archive.readReplicas()
        try capture()
        try fillSegments(at: 12_000)
        var random = SeededGenerator("segments that leave")
        for number in 0..<10 {
            try write("text", "version \(number)\n" + String(repeating: "\(number * 7919)\n", count: 900))
            try write("noise", random.noise(6_000))
            try capture()
        }
        let key = work.appending("key").string
        let made = try run("keys", "new", "-o", key, "--json")
        guard let recipient = try JSON.object(made.output)["recipient"] as? String else {
            throw Wrong(description: "keys new: \(made.text)\(made.errorText)")
        }
        try shell("mkdir \(work)/replica")
        let add = ["replica", "add", "disk", "file://\(work)/replica", "--recipient", recipient, "--identity", key]
        try mustRun(add)
        try mustRun(["replica", "sync"])
        let used = try status()["usedBytes"] as? Int ?? 0
        try mustRun(["keep", "--local-size", "\(used - 205_000)"])
    }

    /// Makes two snapshots and a tree that differs from both.
    func prepareHistory() throws {
        try capture()
        try edit()
        try capture()
        try editAgain()
    }

    /// Checks that the same command, run again, finishes the job and leaves no temporary files.
    fileprivate func repeatUntil(_ wanted: FilePath, _ words: [String]) throws {
        if try !difference(wanted, tree).isEmpty {
            let again = try run(words)
            let difference = try difference(wanted, tree)
            guard again.status == 0, difference.isEmpty else {
                throw Wrong(description: "once more: exit \(again.status) \(again.errorText)\(difference)")
            }
        }
        let leftovers = try leftovers(in: tree)
        if !leftovers.isEmpty { throw Wrong(description: "left behind: \(leftovers)") }
    }
}
