// The place in which a command runs with faults: a tree, an archive and a directory outside, reset for every fault.

import ArchiveFormat
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport

/// A place that can be reset, and its expected contents.
final class FaultPlace {
    /// A failed expectation.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    private let place: FilePath
    /// Everything that the command can access.
    var work: FilePath { place.appending("work") }
    var tree: FilePath { work.appending("tree") }
    var archive: FilePath { work.appending("archive") }
    /// A copy of `work` before the fault.
    var original: FilePath { place.appending("original") }
    var originalTree: FilePath { original.appending("tree") }
    var recording: FilePath { place.appending("recording") }
    /// The announced snapshots, the oldest first; `kept` returns copies of their trees.
    private(set) var announced: [String] = []
    private let random: SeededGenerator

    init(_ random: SeededGenerator) throws {
        self.random = random
        place = try TemporaryDirectory.create(inMemory: true)
        for name in ["home", "kept", "work", "work/outside"] { try makeDirectory(name) }
        try write("../outside/precious", "untouched\n")
        var random = random
        for index in 0..<4 { try write("d\(index)/f\(index)", String(repeating: "file \(index)\n", count: 9)) }
        try write("big", random.noise(180_000))
        try write("text", String(repeating: "line\n", count: 2_000))
        try write("empty", "")
        try shell("cd \(tree) && ln -s text link && ln text hard")
    }

    deinit { TemporaryDirectory.remove(place) }

    // MARK: Preparing

    private func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: place.pushing(FilePath(name)).string, withIntermediateDirectories: true)
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        let path = tree.pushing(FilePath(name))
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
        guard FileManager.default.createFile(atPath: path.string, contents: Data(bytes)) else {
            throw Wrong(description: "cannot write \(path)")
        }
    }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    @discardableResult
    func shell(_ command: String) throws -> String {
        let outcome = try ChildProcess.run("sh", ["-ec", command].map { Array($0.utf8) })
        guard outcome.status == 0 else { throw Wrong(description: "\(command): \(outcome.errorText)") }
        return outcome.text
    }

    /// Changes of several kinds.
    func edit() throws {
        try shell("cd \(tree) && echo changed >> text && rm -rf d0 && mkdir d9 && echo new > d9/new && seq 500 > d2/x")
    }

    func editAgain() throws {
        try shell("cd \(tree) && echo again >> text && printf X | dd of=big bs=1 seek=9000 conv=notrunc 2>&1")
        try shell("cd \(tree) && mv d3 d33 && rm -r d1 d9 && seq 900 > d2/x")
    }

    /// Captures the tree and copies it.
    func capture() throws {
        let outcome = try run("capture", tree.string, "--json")
        guard outcome.status == 0, let id = try Workplace.announced(outcome) else {
            throw Wrong(description: "capture: exit \(outcome.status) \(outcome.errorText)")
        }
        announced.append(id)
        try shell("cp -a \(tree) \(kept(announced.count - 1))")
    }

    /// Forgets the announced snapshots at the indices that `isGoing` selects, except the last one.
    func forget(_ isGoing: (Int) -> Bool) throws {
        let last = announced.count - 1
        let going = announced.indices.filter { $0 != last && isGoing($0) }
        let outcome = try run(["forget"] + going.map { announced[$0] } + ["--root", tree.string])
        guard outcome.status == 0 else { throw Wrong(description: "forget: \(outcome.errorText)") }
        let left = announced.indices.filter { !going.contains($0) }
        for (new, old) in left.enumerated() where new != old {
            try shell("rm -rf \(kept(new)) && mv \(kept(old)) \(kept(new))")
        }
        announced = left.map { announced[$0] }
    }

    /// Makes segments small, so that they are sealed quickly.
    func fillSegments(at bytes: Int) throws {
        let file = URL(filePath: archive.appending("archive.json").string)
        try Data(ArchiveManifest(decoding: Array(Data(contentsOf: file)), segmentBytes: bytes).encoded()).write(
            to: file)
    }

    /// The copy of the tree at the announced snapshot `index`.
    func kept(_ index: Int) -> FilePath { place.appending("kept").appending("\(index)") }

    // MARK: Running

    var environment: [String: String] {
        ["ARCHIVER_ARCHIVE": archive.string, "HOME": place.appending("home").string]
    }

    func run(_ words: String...) throws -> ChildProcess.Outcome { try run(words) }

    func run(_ words: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(Workplace.program, words.map { Array($0.utf8) }, environment: environment)
    }

    func runWithFaults(
        _ options: [String], _ words: [String]
    ) throws -> (outcome: ChildProcess.Outcome, calls: [FaultTool.Call]) {
        try FaultTool.run(
            options, below: work, list: place.appending("list"), words, environment: environment)
    }

    /// Copies everything, so that it can be reset.
    func keepOriginal() throws { try shell("cp -a \(work) \(original)") }
    func putBack() throws {
        try clear()
        try shell("cp -a \(original) \(work)")
    }

    /// Removes everything, also the memory of the archive, which is missing now.
    func clear() throws { try shell("rm -rf \(work) \(place.appending("home"))") }

    // MARK: Reading

    /// The output of `diff -r` for two trees.
    func difference(_ one: FilePath, _ other: FilePath) throws -> String {
        let words = ["-r", "--no-dereference", one.string, other.string]
        return try ChildProcess.run("diff", words.map { Array($0.utf8) }).text
    }

    func leftovers(in directory: FilePath) throws -> String { try shell("find \(directory) -name '.archiver-*'") }

    /// Opens the archive in this process: starting a program takes longer than what it is asked here.
    private func opened() throws -> Archive { try Archive.open(archive, creating: false) }

    /// The ids of all snapshots.
    func listed() throws -> [String] {
        do {
            return try opened().snapshots(SnapshotQuery(root: ArchivedRoot(here: tree))).map(\.id.description)
        } catch {
            guard announced.isEmpty else { throw Wrong(description: "list: \(error)") }
            return []
        }
    }

    /// Restores the snapshot `id` into another directory.
    func restored(_ id: String) throws -> FilePath {
        let out = place.appending("out")
        try shell("rm -rf \(out)")
        do {
            let archive = try opened()
            let result = try archive.restore(archive.snapshot(SnapshotSelector(id)), RestoreOptions(target: out))
            guard result.isComplete else { throw Wrong(description: "\(result.problems)") }
        } catch {
            throw Wrong(description: "restore of \(id.prefix(8)): \(error)")
        }
        return out
    }

    /// Checks that everything in the archive is intact, and can be restored.
    func checkSoundness() throws {
        let check = try opened().check(data: .all)
        if check.findingCount > 0 { throw Wrong(description: "check: \(check.findings.map(\.message))") }
    }

    /// The paths below `tree` with their contents.
    func content(_ tree: FilePath) -> [String: Data] {
        let files = FileManager.default
        var content: [String: Data] = [:]
        for case let path as String in files.enumerator(atPath: tree.string) ?? .init() {
            let full = tree.string + "/" + path
            let link = try? files.destinationOfSymbolicLink(atPath: full)
            content[path] = link.map { Data($0.utf8) } ?? files.contents(atPath: full) ?? Data("directory".utf8)
        }
        return content
    }
}
