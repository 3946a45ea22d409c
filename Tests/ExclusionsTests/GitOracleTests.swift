// Compares exclusions with git's, for random ignore files in random trees.

import Exclusions
import FileIO
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("git agrees", .blocking)
struct GitOracleTests {
    private static let ignoreFileName = ExclusionRules.gitIgnoreFileName

    /// A repository with some directories, files and links.
    private struct Tree {
        let repository: GitRepository
        var directories: [RelativePath] = [.root]
        var paths: [RelativePath] = []

        init(_ generator: inout PatternGenerator) throws {
            repository = try GitRepository()
            var names = Set<RelativePath>()
            for _ in 0..<100 {
                let parent = directories[generator.below(directories.count)]
                let path = parent.appending(generator.name())
                guard parent.depth < 5, names.insert(path).inserted else { continue }
                switch generator.below(6) {
                case 0, 1:
                    try repository.directory.createDirectory(path)
                    directories.append(path)
                case 2: try repository.directory.createLink(path, to: ".")
                default: try repository.directory.write([], to: path)
                }
                paths.append(path)
            }
        }
    }

    /// The number of comparisons.
    private struct Tally {
        var answers = 0
        /// Answers that exclude the path.
        var exclusions = 0
    }

    @Test("on the paths and the listings of random trees")
    func randomTrees() throws {
        var generator = PatternGenerator(SeededGenerator("git agrees"))
        var tally = Tally()
        for _ in 0..<(isThorough ? 100 : 8) {
            let tree = try Tree(&generator)
            for _ in 0..<10 { try compare(tree, &generator, &tally) }
        }
        print("git agrees: \(tally.answers) answers compared, \(tally.exclusions) of them exclusions")
        #expect(tally.exclusions * 10 > tally.answers && tally.exclusions * 10 < tally.answers * 9)
    }

    /// Writes new ignore files into `tree` and compares with both git commands.
    private func compare(_ tree: Tree, _ generator: inout PatternGenerator, _ tally: inout Tally) throws {
        let directory = tree.repository.directory
        let files = ignoreFiles(of: tree, &generator)
        for file in files { try directory.write(file.text, to: file.path) }
        defer { for file in files { try? directory.remove(file.path) } }
        let situation = files.map { "\($0.path): \(quoted($0.text))" } + ["seed \(generator.random.seed)"]

        var rules = ExclusionRules(ignoreFileNames: [Self.ignoreFileName])
        var included = try TreeWalk.included(below: directory.root, rules)
        let ignored = try tree.repository.ignored(among: tree.paths)
        for path in tree.paths {
            #expect(included.contains(path) != ignored.contains(path), "\(quoted(path.bytes)) \(situation)")
        }
        tally.answers += tree.paths.count
        tally.exclusions += ignored.count

        let patterns = (0..<generator.below(4)).compactMap { _ in
            String(validating: generator.pattern(like: tree.paths), as: UTF8.self)
        }
        rules.patterns = patterns.map { Array($0.utf8) }
        included = try TreeWalk.included(below: directory.root, rules)
        let listed = try tree.repository.included(exceptFor: patterns)
        let others = tree.paths.filter { !tree.directories.contains($0) }
        for path in others {
            #expect(
                included.contains(path) == listed.contains(path), "\(quoted(path.bytes)) \(situation) \(patterns)")
        }
        tally.answers += others.count
        tally.exclusions += others.count { !listed.contains($0) }

        // Unlike in git, an ignore file is excluded only with its directory.
        for file in files {
            let parent = file.path.parent ?? .root
            let isReached = parent.isRoot || included.contains(parent)
            #expect(included.contains(file.path) == isReached, "\(file.path) \(situation) \(patterns)")
        }
    }

    /// Ignore files for the root and some of its directories.
    private func ignoreFiles(
        of tree: Tree, _ generator: inout PatternGenerator
    ) -> [(path: RelativePath, text: [UInt8])] {
        var files: [(path: RelativePath, text: [UInt8])] = []
        for directory in tree.directories where directory.isRoot || generator.below(3) == 0 {
            let inside = tree.paths.compactMap { $0 == directory ? nil : directory.suffix(of: $0) }
            if inside.isEmpty { continue }
            files.append((directory.appending(Self.ignoreFileName), generator.ignoreFile(like: inside)))
        }
        return files
    }

    private func quoted(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
}
