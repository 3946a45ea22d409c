// A directory with simulated work.

internal import FileIO
internal import Glibc
internal import SystemPackage
internal import TestSupport

/// A root with texts, of which one at a time is edited for a while.
final class Desk {
    let root: FilePath
    private var random: SeededGenerator
    private var texts: [[String]] = []
    private var current = 0
    private var changes = 0

    private static let files = 40
    private static let lines = 200
    /// The number of changes after which another text is edited.
    private static let changesPerText = 60
    /// The number of changes after which a text is replaced by a new one.
    private static let changesPerLife = 2_000

    init(_ root: FilePath, seed: UInt64) throws {
        self.root = root
        random = SeededGenerator(seed: seed)
        try Directory.create(root, permissions: 0o755, durable: false)
        for file in 0..<Desk.files {
            texts.append((0..<random.below(Desk.lines) + 20).map { _ in line() })
            try save(file)
        }
    }

    /// Changes or adds a line, and saves the text like an editor.
    func change() throws {
        changes += 1
        if changes.isMultiple(of: Desk.changesPerText) { current = random.below(texts.count) }
        if changes.isMultiple(of: Desk.changesPerLife) { texts[current] = [line()] }
        let count = texts[current].count
        if count < 2 * Desk.lines, random.oneIn(2) {
            texts[current].insert(line(), at: random.below(count + 1))
        } else {
            texts[current][random.below(count)] = line()
        }
        try save(current)
    }

    private func line() -> String { String(decoding: random.text(40 + random.below(60)), as: UTF8.self) }

    private func save(_ file: Int) throws {
        let path = root.appending("text\(file).md")
        let bytes = Array(texts[file].joined(separator: "\n").utf8)
        let new = root.appending(".text\(file).new")
        do {
            let descriptor = try Descriptor.open(new, O_WRONLY | O_CREAT | O_TRUNC, permissions: 0o644)
            guard write(descriptor.number, bytes, bytes.count) == bytes.count else {
                throw YearError("\(new): \(Errno(rawValue: errno))")
            }
        }
        guard rename(new.string, path.string) == 0 else { throw YearError("\(path): \(Errno(rawValue: errno))") }
    }
}
