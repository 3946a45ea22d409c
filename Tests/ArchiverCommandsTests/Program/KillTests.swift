// kill -9 at random moments: everything announced is present, and the same command run again finishes the job.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.serialized, .blocking)
struct KillTests {
    private static let files = 300
    /// How often a command is killed; a capture, which is shorter, is killed twice as often.
    private static let rounds = isThorough ? 12 : 3

    @Test("killed captures lose no announced snapshot, and the next capture succeeds")
    func capture() throws {
        let work = try Workplace()
        let random = SeededGenerator("killed captures")
        var moments = random
        var tree = try RandomTree(work.root, count: KillTests.files, random)
        var announced: [String] = []
        var killed = 0
        var longest = try measure { announced.append(try keep(work.capture(), work)) }

        // It goes on until a capture was killed before its end.
        for round in 1...40 where round <= 2 * KillTests.rounds || killed == 0 {
            try tree.edit(60)
            let outcome = try run(work, killedWithin: longest, &moments, "capture", work.root.string, "--json")
            if outcome.status == -SIGKILL { killed += 1 }
            if let id = try Workplace.announced(outcome) { announced.append(try keep(id, work)) }

            let listed = try work.listed()
            #expect(Set(announced).isSubset(of: listed), "seed \(tree.seed), round \(round)")
            let check = try work.run("check", "--data")
            #expect(check.status == 0, "seed \(tree.seed), round \(round): \(check.text)\(check.errorText)")

            try work.write("round", "\(round)")
            longest = min(longest, try measure { announced.append(try keep(work.capture(), work)) })
        }
        #expect(killed > 0, "seed \(tree.seed): no capture was killed")
        for id in announced {
            try expectRestored(id, work, "seed \(tree.seed)")
        }
    }

    @Test("after a killed watch, the next one continues where it stopped")
    func watch() throws {
        let work = try Workplace()
        let random = SeededGenerator("killed watches")
        var moments = random
        var tree = try RandomTree(work.root, count: KillTests.files, random)
        var announced: [String] = []
        for round in 1...KillTests.rounds {
            let first = try work.start("watch", work.root.string, "--json", "--settle", "5ms", "--max-delay", "50ms")
            _ = try first.line { $0.contains("\"event\":\"watching\"") }
            for _ in 0..<Int.random(in: 1...60, using: &moments) { try tree.edit(5) }
            first.send(SIGKILL)
            announced += try snapshots(first.finish())

            let second = try work.start("watch", work.root.string, "--json", "--settle", "5ms")
            _ = try second.line { $0.contains("\"event\":\"watching\"") }
            try tree.edit(20)
            second.send(SIGTERM)
            let outcome = try second.finish()
            #expect(outcome.status == 0, "seed \(tree.seed), round \(round): \(outcome.errorText)")
            announced += try snapshots(outcome)

            #expect(Set(announced).isSubset(of: try work.listed()), "seed \(tree.seed), round \(round)")
            let latest = try #require(try work.listed().last)
            try work.copyTree(to: "kept-\(latest)")
            try expectRestored(latest, work, "seed \(tree.seed), round \(round)")
        }
        let check = try work.run("check", "--data")
        #expect(check.status == 0, "seed \(tree.seed): \(check.text)\(check.errorText)")
    }

    @Test("the same command finishes a killed restore, and the state before it is kept")
    func restoreInPlace() throws {
        let work = try Workplace()
        let random = SeededGenerator("killed restores")
        var moments = random
        var tree = try RandomTree(work.root, count: KillTests.files, random)
        let wanted = try keep(work.capture(), work)
        var longest = Duration.zero
        for round in 1...KillTests.rounds {
            let seed = "seed \(tree.seed), round \(round)"
            // After a restore, the random tree's list of its files is out of date, so each round uses a new tree.
            tree = try RandomTree(work.root, count: 150, moments)
            _ = moments.next()
            try work.copyTree(to: "before")
            let known = try work.listed()
            var restored = ["restore", wanted, "--root", work.root.string]
            if longest == .zero {
                longest = try measure { try work.run(restored) }
            } else {
                _ = try run(work, killedWithin: longest, &moments, restored)
                let outcome = try work.run(restored)
                #expect(outcome.status == 0, "\(seed): \(outcome.text)\(outcome.errorText)")
            }
            #expect(try work.difference(of: work.root, and: "kept-\(wanted)") == "", "\(seed)")
            #expect(try work.leftovers(in: work.root) == [], "\(seed)")

            let before = try #require(try work.listed().first { !known.contains($0) }, "\(seed)")
            restored = ["restore", before, "--target", work.path("out").string]
            #expect(try work.run(restored).status == 0, "\(seed)")
            #expect(try work.difference(of: work.path("out"), and: "before") == "", "\(seed)")
            try work.remove("out")
            try work.remove("before")
        }
    }

    @Test("a restore that was killed midway can be undone")
    func undoOfKilledRestore() throws {
        let work = try Workplace()
        let random = SeededGenerator("killed restores, undone")
        var moments = random
        let first = try RandomTree(work.root, count: KillTests.files, random)
        let wanted = try keep(work.capture(), work)
        var longest = try measure { _ = try work.run("restore", wanted, "--root", work.root.string) }
        for round in 1...KillTests.rounds {
            let seed = "seed \(first.seed), round \(round)"
            _ = try RandomTree(work.root, count: 150, moments)
            _ = moments.next()
            try work.copyTree(to: "before")
            let known = try operations(work).count
            let restored = ["restore", wanted, "--root", work.root.string]
            if round == 1 {
                longest = try measure { try work.run(restored) }
            } else {
                _ = try run(work, killedWithin: longest, &moments, restored)
            }
            // If it was killed before it changed anything, it is not an operation.
            if try operations(work).count > known {
                let outcome = try work.run("undo", work.root.string)
                #expect(outcome.status == 0, "\(seed): \(outcome.text)\(outcome.errorText)")
            }
            #expect(try work.difference(of: work.root, and: "before") == "", "\(seed)")
            #expect(try work.leftovers(in: work.root) == [], "\(seed)")
            try work.remove("before")
        }
    }

    @Test("the same command finishes a killed undo, and redo brings back the state before it")
    func undo() throws {
        let work = try Workplace()
        let random = SeededGenerator("killed undos")
        var moments = random
        let first = try RandomTree(work.root, count: KillTests.files, random)
        let wanted = try keep(work.capture(), work)
        var longest = Duration.zero
        var killed = 0
        for round in 1...40 where round <= KillTests.rounds || killed == 0 {
            let seed = "seed \(first.seed), round \(round)"
            _ = try RandomTree(work.root, count: 150, moments)
            _ = moments.next()
            try work.copyTree(to: "before")
            #expect(try work.run("restore", wanted, "--root", work.root.string).status == 0, "\(seed)")
            try work.write("work done since", "\(round)")
            try work.copyTree(to: "since")
            if longest == .zero {
                longest = try measure { try work.run("undo", work.root.string) }
            } else {
                let known = try operations(work).count
                if try run(work, killedWithin: longest, &moments, ["undo", work.root.string]).status == -SIGKILL {
                    killed += 1
                }
                let newest = try #require(try operations(work).first)
                let isDone = try operations(work).count > known && newest["complete"] as? Bool == true
                if !isDone {
                    let outcome = try work.run("undo", work.root.string)
                    #expect(outcome.status == 0, "\(seed): \(outcome.text)\(outcome.errorText)")
                }
            }
            #expect(try work.difference(of: work.root, and: "before") == "", "\(seed)")
            #expect(try work.leftovers(in: work.root) == [], "\(seed)")
            #expect(try work.run("redo", work.root.string).status == 0, "\(seed)")
            #expect(try work.difference(of: work.root, and: "since") == "", "\(seed)")
            try work.remove("before")
            try work.remove("since")
        }
        #expect(killed > 0, "seed \(first.seed): no undo was killed")
        let check = try work.run("check", "--data")
        #expect(check.status == 0, "seed \(first.seed): \(check.text)\(check.errorText)")
    }

    @Test("the same command finishes a killed restore to another directory")
    func restoreElsewhere() throws {
        let work = try Workplace()
        let random = SeededGenerator("killed restores elsewhere")
        var moments = random
        let tree = try RandomTree(work.root, count: KillTests.files, random)
        let wanted = try keep(work.capture(), work)
        let target = work.path("target")
        let restored = ["restore", wanted, "--target", target.string]
        let longest = try measure { try work.run(restored) }
        for round in 1...KillTests.rounds {
            let seed = "seed \(tree.seed), round \(round)"
            try work.remove("target")
            let killed = try run(work, killedWithin: longest, &moments, restored)
            let again = try work.run(restored)
            // A restore killed at its very end has nothing left to do, and then the target is not empty.
            let wasDone = killed.status == 0 || again.errorText.contains("not empty")
            #expect(again.status == (wasDone ? 1 : 0), "\(seed): \(again.text)\(again.errorText)")
            #expect(try work.difference(of: target, and: "kept-\(wanted)") == "", "\(seed)")
            #expect(try work.leftovers(in: target) == [], "\(seed)")
        }
    }

    @Test("the temporary file of a restore that was killed immediately does not prevent the next one")
    func restoreKilledAtOnce() throws {
        let work = try Workplace()
        let id = try keep(work.capture(), work)
        let target = work.path("target")
        #expect(mkdir(target.string, 0o755) == 0)
        let name = FilePath(bytes: TemporaryFile.newName().bytes)
        _ = try Descriptor.open(target.pushing(name), O_WRONLY | O_CREAT, permissions: 0o600)
        let outcome = try work.run("restore", id, "--target", target.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(try work.difference(of: target, and: "kept-\(id)") == "")
    }

    // MARK: Parts

    /// The operations on the tree, the newest first.
    private func operations(_ work: Workplace) throws -> [[String: Any]] {
        try JSON.array(work.run("operations", "--reverse", "--json").output)
    }

    /// Runs `archiver` and kills it after a random time of at most 1.1 times `longest`.
    private func run(
        _ work: Workplace, killedWithin longest: Duration, _ random: inout SeededGenerator, _ arguments: String...
    ) throws -> ChildProcess.Outcome {
        try run(work, killedWithin: longest, &random, arguments)
    }

    private func run(
        _ work: Workplace, killedWithin longest: Duration, _ random: inout SeededGenerator, _ arguments: [String]
    ) throws -> ChildProcess.Outcome {
        let delay = longest * Double.random(in: 0...1.1, using: &random)
        let process = try work.start(arguments)
        let end = ContinuousClock.now + delay
        while ContinuousClock.now < end { sched_yield() }
        process.send(SIGKILL)
        return try process.finish()
    }

    private func measure(_ body: () throws -> Void) throws -> Duration {
        try ContinuousClock().measure(body)
    }

    /// Copies the tree as it is in the snapshot `id`.
    private func keep(_ id: String, _ work: Workplace) throws -> String {
        try work.copyTree(to: "kept-\(id)")
        return id
    }

    private func expectRestored(_ id: String, _ work: Workplace, _ seed: String) throws {
        let outcome = try work.run("restore", id, "--target", work.path("out").string)
        #expect(outcome.status == 0, "\(seed): \(outcome.errorText)")
        #expect(try work.difference(of: work.path("out"), and: "kept-\(id)") == "", "\(seed)")
        try work.remove("out")
    }

    /// The snapshots that a watch announced in complete lines.
    private func snapshots(_ outcome: ChildProcess.Outcome) throws -> [String] {
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return try lines.map { try JSON.object(String($0)) }
            .filter { $0["event"] as? String == "snapshot" }
            .compactMap { $0["id"] as? String }
    }
}
