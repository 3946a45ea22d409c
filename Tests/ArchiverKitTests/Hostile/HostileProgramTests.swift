// Runs the program on forged archives: every command ends, stays within its memory, and reports the truth.

import ArchiveFormat
import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Forged archives and the program", .blocking)
struct HostileProgramTests {
    /// The most memory that a command may use, in bytes.
    private static let memoryLimit = 256 << 20

    /// In a short run, one in so many of the commands that only read meets an archive; each meets many archives.
    private static let reading = 12

    /// Those of a short run: to check one takes seconds.
    private static let someBombs = {
        var random = SeededGenerator("archives that are endless to read")
        return Array(ForgedArchive.bombs.shuffled(using: &random).prefix(4))
    }()

    /// Whether the program is the release build: only its memory and time are limited.
    private static let isReleased = ProcessInfo.processInfo.environment[BuiltProgram.variable] != nil

    @Test(
        "no command crashes, hangs, uses much memory, leaves the root, or passes an archive that cannot be restored",
        arguments: ForgedArchive.wrong + ForgedArchive.right)
    func commands(forged: ForgedArchive) throws { try runAll(forged) }

    @Test(
        "no command uses much memory or time on an archive that is small on disk and endless to read",
        .enabled(if: isReleased), arguments: isThorough ? ForgedArchive.bombs : someBombs)
    func bombs(forged: ForgedArchive) throws { try runAll(forged, sparing: 6) }

    @Test("no command crashes on the greatest and the least numbers of the format", arguments: ForgedArchive.limits)
    func limits(forged: ForgedArchive) throws { try runAll(forged) }

    @Test("every command ends, whatever object replaces a file of the archive", arguments: ForgedArchive.places)
    func places(forged: ForgedArchive) throws { try runAll(forged, sparing: 5) }

    /// Runs the commands on the archive.
    ///
    /// - Parameter sparing: in a short run, one in so many of the commands that follow the first restore meets it: each
    ///   takes seconds to decode some archives, and others are many.
    private func runAll(_ forged: ForgedArchive, sparing: Int = 1) throws {
        let sandbox = try ForgedSandbox(forged)
        let root = sandbox.root.string
        try sandbox.base.makeDirectory("outside")
        try sandbox.base.write("outside/file", "outside")
        let outside = try TreeListing(of: sandbox.base.full("outside"))

        let check = try run(sandbox, "check", "--data")
        var random = SeededGenerator("commands on an archive with \(forged.name)")
        for words in [
            ["list", "--json"], ["list", "--states"], ["operations", root], ["status"], ["check"],
            ["show", "latest", "--root", root], ["show", "latest", "--raw", "--root", root],
            ["show", "latest", "--entries", "--root", root], ["show", "latest:f", "--root", root],
            ["cat", "latest:f", "--root", root], ["diff", "latest", "--root", root],
            ["diff", "latest", "--patch", "--root", root], ["undo", root, "--dry-run"],
            ["log", "--root", root], ["log", "f", "-p", "--root", root], ["find", "*", "--root", root],
            ["deleted", "--root", root], ["changes", "--root", root], ["sessions", "--root", root],
            ["blame", "f", "--root", root], ["usage"], ["usage", "--by", "day"], ["turns", "--root", root],
            ["prune", "--dry-run"], ["keep"], ["pin"], ["roots"], ["list", "--forgotten"],
            ["find", "*", "--larger-than", "1", "--root", root],
        ] {
            if isThorough || random.oneIn(HostileProgramTests.reading) { try run(sandbox, words) }
        }
        if forged.hasStates {
            for words in [
                ["show", "game"], ["show", "game", "--json"], ["show", "game", "--raw"], ["cat", "game"],
                ["diff", "game"], ["restore", "game", "--target", sandbox.base.full("game.json").string],
            ] {
                try run(sandbox, words)
            }
        }
        let target = sandbox.base.full("target").string
        let restore = try run(sandbox, "restore", "latest", "--root", root, "--target", target)
        let hasSnapshot = try run(sandbox, "show", "latest", "--root", root).status != 1
        // No file system supports every size that a file in an archive may have.
        if check.status == 0, hasSnapshot, !restore.output.contains("File too large") {
            #expect(restore.status == 0, "check passed, but restore failed:\n\(restore.output)")
        }
        func isTried() -> Bool { isThorough || random.oneIn(sparing) }
        if isTried() { try run(sandbox, "restore", "latest", "--root", root, "--dry-run") }
        if isTried(), try run(sandbox, "restore", "latest", "--root", root).status == 0 {
            let difference = try run(sandbox, "diff", "latest", "--root", root)
            let lines = difference.output.split(separator: "\n").filter { !$0.hasPrefix("archiver: ") }
            #expect(difference.status == 0 && lines.isEmpty, "\(difference.output)")
            if restore.status == 0, check.status == 0 {
                try TreeListing(of: sandbox.root).expect(
                    equals: TreeListing(of: sandbox.base.full("target")), "restored in place and elsewhere")
            }
        }
        for words in [["undo", root], ["capture", root], ["repair"], ["list"]] where isTried() {
            try run(sandbox, words)
        }
        try TreeListing(of: sandbox.base.full("outside")).expect(equals: outside, "what is outside of the root")
        let names = Set(try sandbox.base.names())
        #expect(names.isSubset(of: ["archive", "game.json", "outside", "root", "target"]), "\(names)")
    }

    @discardableResult
    private func run(_ sandbox: ForgedSandbox, _ words: String...) throws -> MeasuredRun { try run(sandbox, words) }

    @discardableResult
    private func run(_ sandbox: ForgedSandbox, _ words: [String]) throws -> MeasuredRun {
        let run = try MeasuredRun(words + ["--archive", sandbox.archive.string], scratch: sandbox.base.directory)
        let command = words.joined(separator: " ")
        #expect(run.status < 128, "\(command): \(run.status), \(run.output.prefix(2_000))")
        #expect(run.status != 64, "the command line is wrong: \(command): \(run.output)")
        if HostileProgramTests.isReleased {
            #expect(run.memory <= HostileProgramTests.memoryLimit, "\(command): \(run.memory >> 20) MiB")
        }
        return run
    }
}
