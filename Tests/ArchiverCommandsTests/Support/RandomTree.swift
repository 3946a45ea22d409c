// A tree of files that changes at random, the same way for the same seed.

import FileIO
import Glibc
import SystemPackage
import TestSupport

/// A directory of a few hundred files with several megabytes.
struct RandomTree {
    let root: FilePath
    private var random: SeededGenerator
    /// The paths of the existing files below the root.
    private var files: [String] = []
    private var made = 0

    private static let directories = 12
    private static let largest = 24_000

    var seed: UInt64 { random.seed }

    /// Fills the directory `root` with `count` files.
    init(_ root: FilePath, count: Int, _ random: SeededGenerator) throws {
        self.root = root
        self.random = random
        for directory in 0..<RandomTree.directories {
            _ = mkdir(root.appending("d\(directory)").string, 0o755)
            _ = mkdir(root.appending("d\(directory)").appending("e").string, 0o755)
        }
        for _ in 0..<count { try add() }
    }

    /// Makes `count` changes: of content, names and permissions, additions and removals.
    mutating func edit(_ count: Int) throws {
        for _ in 0..<count {
            let index = Int.random(in: 0..<files.count, using: &random)
            let file = path(files[index])
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: try write(file)
            case 4: try patch(file)
            case 5: try add()
            case 6 where files.count > 50:
                unlink(file.string)
                files.swapAt(index, files.count - 1)
                files.removeLast()
            case 7:
                let name = newName()
                rename(file.string, path(name).string)
                files[index] = name
            case 8:
                unlink(file.string)
                symlink("target \(made)", file.string)
            default: chmod(file.string, [0o600, 0o644, 0o755, 0o4711][Int.random(in: 0..<4, using: &random)])
            }
        }
    }

    private func path(_ name: String) -> FilePath { root.pushing(FilePath(name)) }

    private mutating func newName() -> String {
        made += 1
        let directory = Int.random(in: 0..<RandomTree.directories, using: &random)
        return "d\(directory)/" + (Bool.random(using: &random) ? "e/" : "") + "f\(made)"
    }

    private mutating func add() throws {
        let name = newName()
        try write(path(name))
        files.append(name)
    }

    /// Rewrites a file; half of the files can be compressed, half are noise.
    private mutating func write(_ file: FilePath) throws {
        let count = Int.random(in: 0..<(RandomTree.largest / 8), using: &random)
        let repeats = Bool.random(using: &random)
        var words: [UInt64] = []
        words.reserveCapacity(count)
        for index in 0..<count { words.append(repeats && index % 8 > 0 ? words[index - 1] : random.next()) }
        // A link at this path must not be followed.
        unlink(file.string)
        let descriptor = try Descriptor.open(file, O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
        let written = words.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
        if written != words.count * 8 { throw FileError("write", file, .current) }
    }

    /// Overwrites a few bytes in the middle, if it is a file.
    private mutating func patch(_ file: FilePath) throws {
        let number = open(file.string, O_WRONLY | O_NOFOLLOW)
        guard number >= 0 else { return }
        defer { close(number) }
        let word = random.next()
        withUnsafeBytes(of: word) { _ = pwrite(number, $0.baseAddress, $0.count, 5000) }
    }
}
