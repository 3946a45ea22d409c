// Random histories against a naive model: the timeline of every name and of every object.
//
// Inodes are given out as ext4 does it: the number of a removed file goes to the next new one.

import ArchiveFormat
import ArchiveStorage
import FileIO
import Foundation
import Roots
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import ArchiverKit
@testable import History

@Suite("History against a model", .blocking) struct HistoryModelTests {
    private static let parts = 6
    /// `HISTORIES=300` tries more.
    private static let count =
        ProcessInfo.processInfo.environment["HISTORIES"].flatMap { Int($0) } ?? (isThorough ? 100 : 10)

    @Test(
        "log, deleted, changes, find, grep, blame and cat agree with a naive model of random histories",
        arguments: 0..<parts)
    func agreement(part: Int) throws {
        let printed = SeededGenerator("random histories, part \(part)")
        for number in stride(from: part, to: Self.count, by: Self.parts) {
            let seed = printed.seed &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            let history = try MadeHistory()
            var model = FileModel()
            for step in 0..<(6 + random.below(8)) {
                for _ in 0...random.below(5) { try model.change(&random, at: Int64(step)) }
                try history.add(model.state, at: 1_000_000 + Int64(step) * 60)
            }
            let all = Array(history.snapshots.indices)
            var check = ModelCheck(history: history, objects: model.objects, note: "TEST_SEED=\(seed), HISTORIES=1")
            try check.run(all, &random)
            let left = all.filter { $0 == all.count - 1 || random.oneIn(2) }
            try history.archive.store.forget(
                Set(all.filter { !left.contains($0) }.map { history.snapshots[$0].id.chunk }))
            check.note = "half forgotten; \(check.note)"
            try check.run(left, &random)
            _ = try history.archive.prune(grace: .zero)
            check.note = "pruned; \(check.note)"
            try check.run(left, &random)
            try history.archive.store.catalogue.forgetHistory()
            check.note = "rebuilt; \(check.note)"
            try check.run(left, &random)
        }
    }
}

/// Files with their objects' numbers, changed at random.
private struct FileModel {
    private var files: [RelativePath: MadeFile] = [:]
    private var numbers: [RelativePath: Int] = [:]
    private var nextNumber = 0
    private var nextLine = 0
    private var formerNames: [RelativePath] = []
    /// The number of the object at each path, for each state.
    private(set) var objects: [[RelativePath: Int]] = []

    /// The next state, which is noted.
    var state: [RelativePath: MadeFile] {
        mutating get {
            objects.append(numbers)
            return files
        }
    }

    mutating func change(_ random: inout SeededGenerator, at time: Int64) throws {
        let path = files.keys.sorted().randomElement(using: &random)
        guard let path, var file = files[path], !random.oneIn(4) else {
            return add(MadeFile(lines: lines(random.below(14) + 1)), at: try name(&random), time)
        }
        switch random.below(8) {
        case 0, 1:
            edit(&file, &random)
            file.modified = time
            files[path] = file
        case 2: move(path, to: try name(&random))
        case 3:
            let target = try name(&random)
            move(path, to: target)
            edit(&file, &random)
            file.modified = time
            files[target] = file
        case 4: remove(path)
        case 5:
            // The new file gets the inode of the removed one.
            remove(path)
            add(MadeFile(lines: lines(random.below(14) + 1)), at: try name(&random), time)
        case 6: add(MadeFile(lines: file.lines), at: try name(&random), time)
        default:
            guard let directory = path.parent, !directory.isRoot else { return remove(path) }
            let target = try RelativePath.at(FilePath("moved\(random.below(100))"))
            for inside in files.keys.sorted() where directory.contains(inside) {
                guard let rest = RelativePath(Array(inside.bytes.dropFirst(directory.bytes.count + 1))) else {
                    continue
                }
                move(inside, to: target.appending(path: rest))
            }
        }
    }

    private mutating func lines(_ count: Int) -> [Int] {
        defer { nextLine += count }
        return Array(nextLine..<(nextLine + count))
    }

    private mutating func edit(_ file: inout MadeFile, _ random: inout SeededGenerator) {
        for _ in 0...random.below(file.lines.count + 1) {
            if file.lines.count > 1, random.oneIn(3) {
                file.lines.remove(at: random.below(file.lines.count))
            } else {
                file.lines.insert(contentsOf: lines(1), at: random.below(file.lines.count + 1))
            }
        }
    }

    /// A name that no file has; sometimes one that a file had.
    private mutating func name(_ random: inout SeededGenerator) throws -> RelativePath {
        if random.oneIn(4), let former = formerNames.randomElement(using: &random), files[former] == nil,
            !files.keys.contains(where: { former.contains($0) || $0.contains(former) })
        {
            return former
        }
        while true {
            let directory = ["", "a/", "a/b/", "c/"][random.below(4)]
            let path = try RelativePath.at(FilePath("\(directory)f\(random.below(1000)).txt"))
            if files[path] == nil { return path }
        }
    }

    private mutating func add(_ file: MadeFile, at path: RelativePath, _ time: Int64) {
        var file = file
        let used = Set(files.values.compactMap(\.inode))
        file.inode = (1...).lazy.map { UInt64($0) }.first { !used.contains($0) }
        file.modified = time
        files[path] = file
        numbers[path] = nextNumber
        nextNumber += 1
    }

    private mutating func remove(_ path: RelativePath) {
        files[path] = nil
        numbers[path] = nil
        formerNames.append(path)
    }

    private mutating func move(_ path: RelativePath, to target: RelativePath) {
        guard files[target] == nil, !path.contains(target) else { return }
        (files[target], numbers[target]) = (files[path], numbers[path])
        remove(path)
    }
}

/// Compares the answers about the remaining snapshots with the states that they were made of.
private struct ModelCheck {
    let history: MadeHistory
    let objects: [[RelativePath: Int]]
    var note: String

    private var archive: Archive { history.archive }
    private var comment: Comment { Comment(rawValue: note) }

    /// A path's version according to the model.
    private struct Version: Hashable {
        let snapshot: Int
        let path: RelativePath
        let change: PathVersion.Change
    }

    init(history: MadeHistory, objects: [[RelativePath: Int]], note: String) {
        (self.history, self.objects, self.note) = (history, objects, note)
    }

    /// - Parameter left: the snapshots that are not forgotten, by index.
    func run(_ left: [Int], _ random: inout SeededGenerator) throws {
        let root = try history.root()
        // The versions that each remaining snapshot but the first introduces.
        var steps: [[RelativePath: PathVersion]] = []
        for (old, new) in zip(left, left.dropFirst()) {
            let found = try archive.changes(
                in: root, after: history.snapshots[old], through: history.snapshots[new])
            let versions = found.flatMap(\.changes).filter { $0.kind == .file }
            let step = Dictionary(versions.map { ($0.path, $0) }) { first, _ in first }
            expectStep(step, old, new)
            steps.append(step)
        }
        try expectLogs(left, steps, root, &random)
        try expectDeleted(left, steps, root)
        try expectNames(left, steps, root)
        try expectLines(left, root, &random)
        for _ in 0..<30 where left.count > 1 {
            let start = random.below(left.count - 1)
            try expectSpan(left[start], left[start + 1 + random.below(left.count - start - 1)], root)
        }
    }

    private static func likeness(_ old: MadeFile, _ new: MadeFile) -> Double {
        let common = Set(old.lines).intersection(new.lines).reduce(0) { $0 + MadeFile.text(ofLine: $1).count }
        let larger = max(old.text.count, new.text.count)
        return larger == 0 ? 0 : Double(common) / Double(larger)
    }

    // MARK: One step

    private func expectStep(_ step: [RelativePath: PathVersion], _ old: Int, _ new: Int) {
        let (before, after) = (history.states[old], history.states[new])
        let (removed, added) = (before.filter { after[$0.key] == nil }, after.filter { before[$0.key] == nil })
        for path in Set(before.keys).union(after.keys) {
            let change = step[path]?.change
            switch (before[path], after[path]) {
            case (nil, _?): #expect(change == .added || change == .renamed, "\(path), \(new); \(note)")
            case (_?, nil): #expect(change == .removed || change == .renamedAway, "\(path), \(new); \(note)")
            case (let left?, let right?):
                let isSame = left.lines == right.lines
                #expect(isSame ? change == nil || change == .metadata : change == .modified, "\(path), \(new); \(note)")
            case (nil, nil): break
            }
        }
        #expect(step.keys.allSatisfy { before[$0] != nil || after[$0] != nil }, comment)
        for (path, version) in step where version.change == .renamed {
            guard let other = version.otherPath, let left = removed[other], let right = added[path] else {
                Issue.record("\(path) was no \(version.otherPath ?? .root), \(new); \(note)")
                continue
            }
            #expect(step[other]?.otherPath == path, comment)
            #expect(Self.likeness(left, right) >= 0.5, "\(other) > \(path), \(new); \(note)")
            #expect(version.isEdited == (left.lines != right.lines), comment)
        }
        for (path, file) in removed {
            let alike = added.filter { Self.likeness(file, $0.value) >= 0.5 }
            let rivals = removed.filter { rival in alike.contains { Self.likeness(rival.value, $0.value) >= 0.5 } }
            let equal = added.filter { $0.value.lines == file.lines }
            let twins = removed.filter { $0.value.lines == file.lines }
            if equal.count == 1, twins.count == 1, let target = equal.first {
                #expect(step[path]?.otherPath == target.key, "unique content of \(path), \(new); \(note)")
            }
            if new == old + 1, let target = equal.first(where: { objects[new][$0.key] == objects[old][path] }) {
                #expect(step[path]?.otherPath == target.key, "the same object, \(path), \(new); \(note)")
            }
            if alike.count == 1, rivals.count == 1, file.text.count >= 32, let target = alike.first {
                #expect(step[path]?.otherPath == target.key, "edited \(path), \(new); \(note)")
            }
            if alike.isEmpty { #expect(step[path]?.change == .removed, "\(path), \(new); \(note)") }
        }
    }

    // MARK: log, blame and cat

    private func log(
        _ path: RelativePath, _ left: [Int], _ steps: [[RelativePath: PathVersion]], followsRenames: Bool
    ) -> [Version] {
        var (found, name): ([Version], RelativePath) = ([], path)
        for (index, step) in steps.enumerated().reversed() {
            guard let version = step[name] else { continue }
            found.append(Version(snapshot: left[index + 1], path: name, change: version.change))
            if followsRenames, version.change == .renamed, let other = version.otherPath { name = other }
        }
        let isNew = found.last.map { $0.path == name && ($0.change == .added || $0.change == .renamed) } ?? false
        if !isNew, let first = left.first, history.states[first][name] != nil {
            found.append(Version(snapshot: first, path: name, change: .added))
        }
        return found
    }

    private func paths(_ left: [Int]) -> [RelativePath] {
        Set(left.flatMap { history.states[$0].keys }).sorted()
    }

    private func expectLogs(
        _ left: [Int], _ steps: [[RelativePath: PathVersion]], _ root: ArchivedRoot, _ random: inout SeededGenerator
    ) throws {
        for path in paths(left) {
            for follows in [true, false] {
                let versions = try archive.history(of: path, in: root, HistoryQuery(followsRenames: follows))
                let found = versions.map {
                    Version(snapshot: Int($0.snapshot.sequence) - 1, path: $0.path, change: $0.change)
                }
                #expect(found == log(path, left, steps, followsRenames: follows), "log of \(path); \(note)")
                guard follows, random.oneIn(4) else { continue }
                for version in versions where version.isPresent { try expectContent(version) }
                if versions.first?.isPresent ?? false { try expectBlame(versions) }
            }
        }
    }

    private func expectContent(_ version: PathVersion) throws {
        let file = history.states[Int(version.snapshot.sequence) - 1][version.path]
        let entry = try #require(try archive.entry(at: version.path, in: version.snapshot))
        var bytes: [UInt8] = []
        try archive.forEachPiece(of: entry) { piece in
            bytes += piece
            return true
        }
        #expect(bytes == file?.text, "\(version.path); \(note)")
    }

    private func expectBlame(_ versions: [PathVersion]) throws {
        let texts = versions.prefix { $0.isPresent }.map { version in
            (version, Set(history.states[Int(version.snapshot.sequence) - 1][version.path]?.lines ?? []))
        }
        guard let newest = versions.first,
            let lines = history.states[Int(newest.snapshot.sequence) - 1][newest.path]?.lines
        else { return }
        let blamed = try Blame(archive).lines(versions)
        let expected = lines.map { line in texts.prefix { $0.1.contains(line) }.last?.0.snapshot.id }
        #expect(blamed.map { Optional($0.version.snapshot.id) } == expected, "blame of \(newest.path); \(note)")
    }

    // MARK: deleted, find and grep

    private func expectDeleted(
        _ left: [Int], _ steps: [[RelativePath: PathVersion]], _ root: ArchivedRoot
    ) throws {
        guard let end = left.last else { return }
        let found = try archive.deletedPaths(in: root)
        let missing = paths(left).filter { history.states[end][$0] == nil }
        for path in missing {
            guard let index = left.lastIndex(where: { history.states[$0][path] != nil }) else { continue }
            let rows = found.filter { row in
                row.path.contains(path) && row.lastIn.id == history.snapshots[left[index]].id
            }
            let isRenamed = steps[index][path]?.change == .renamedAway
            let row = rows.first { $0.path == path || $0.kind == .directory }
            #expect(isRenamed ? !rows.contains { $0.path == path } : row != nil, "deleted \(path); \(note)")
        }
        for row in found where row.kind == .file {
            #expect(missing.contains(row.path), "deleted \(row.path); \(note)")
            let state = history.states[Int(row.lastIn.sequence) - 1]
            #expect(state[row.path].map { UInt64($0.text.count) } == row.size, comment)
        }
    }

    private func expectNames(
        _ left: [Int], _ steps: [[RelativePath: PathVersion]], _ root: ArchivedRoot
    ) throws {
        let found = try archive.names(matching: Array("*.txt".utf8), in: root)
        #expect(found.map(\.path) == paths(left), "find; \(note)")
        for name in found {
            let versions = log(name.path, left, steps, followsRenames: false)
            #expect(versions.count == name.versionCount, "find \(name.path); \(note)")
            #expect(versions.last?.snapshot == Int(name.first.sequence) - 1, "find \(name.path); \(note)")
            #expect(versions.first?.snapshot == Int(name.lastChange.sequence) - 1, "find \(name.path); \(note)")
            #expect(left.last.map { history.states[$0][name.path] == nil } == name.isDeleted, comment)
        }
    }

    private func expectLines(_ left: [Int], _ root: ArchivedRoot, _ random: inout SeededGenerator) throws {
        let numbers = Set(left.flatMap { history.states[$0].values.flatMap(\.lines) }).sorted()
        guard let number = numbers.randomElement(using: &random) else { return }
        let query = LineQuery(Array("line \(number) of".utf8), isLiteral: true)
        let found = try archive.lines(matching: query, in: root).lines
        let expected = paths(left).filter { path in
            left.contains { history.states[$0][path]?.lines.contains(number) ?? false }
        }
        #expect(Set(found.map(\.path)).sorted() == expected, "grep; \(note)")
        for line in found {
            let first = left.first { history.states[$0][line.path]?.lines.contains(number) ?? false }
            #expect(first.map { history.snapshots[$0].id } == line.first.id, "grep; \(note)")
        }
    }

    // MARK: changes

    private func expectSpan(_ start: Int, _ end: Int, _ root: ArchivedRoot) throws {
        let rows = try archive.combinedChanges(
            in: root, after: history.snapshots[start], through: history.snapshots[end]
        ).filter { $0.kind == .file }
        let (before, after) = (history.states[start], history.states[end])
        var isListed: Set<RelativePath> = []
        for row in rows {
            #expect(isListed.insert(row.path).inserted, "\(row.path) is listed twice; \(note)")
            let ends = (before[row.path] != nil, after[row.path] != nil)
            let expected =
                switch row.change {
                case .added, .renamed: (false, true)
                case .modified: (true, true)
                case .deleted, .renamedAway: (true, false)
                case .transient: (false, false)
                }
            #expect(ends == expected, "\(row.path) is \(row.change) from \(start) to \(end); \(note)")
            #expect(row.snapshotCount > 0 && row.snapshotCount <= end - start, comment)
            guard row.change == .renamed || row.change == .renamedAway else {
                #expect(row.otherPath == nil, comment)
                continue
            }
            let other = rows.first { $0.path == row.otherPath }
            #expect(
                other?.otherPath == row.path && other?.change != row.change, "\(row.path), \(start), \(end); \(note)")
        }
        for path in Set(before.keys).union(after.keys) where before[path]?.lines != after[path]?.lines {
            #expect(isListed.contains(path), "\(path) differs from \(start) to \(end); \(note)")
        }
    }
}
