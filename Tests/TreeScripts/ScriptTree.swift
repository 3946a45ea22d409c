// The tree of a script, and the commands that change it with system calls.

internal import CLinux
internal import Glibc
package import SystemPackage

/// A directory with `root`, which is watched, and `outside`, which is not.
///
/// A script's paths are relative to the root; paths that begin with `../` are relative to the directory around it.
package final class ScriptTree {
    package let base: FilePath
    package let root: FilePath
    /// The files opened by `hold`, `map` and `tmpfile`, by their names in the script.
    var held: [[UInt8]: HeldFile] = [:]

    /// Uses `base`, which must contain the directories `root` and `outside`.
    package init(base: FilePath) {
        self.base = base
        root = base.appending("root")
    }

    /// Executes a line that changes the tree.
    ///
    /// - Returns: false if the line's first word is not such a command.
    /// - Throws: `ScriptError` if the command fails.
    package func run(_ line: Script.Line) throws -> Bool {
        try run(line.words, line.description)
    }

    package func run(_ words: [[UInt8]], _ line: String) throws -> Bool {
        guard let command = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return false }
        if command == "each" {
            return try repeated(Array(words.dropFirst()), line)
        }
        let call = Call(tree: self, line: line, words: Array(words.dropFirst()))
        if let operation = ScriptTree.operations[command] {
            try operation(call)
            return true
        }
        return try useHeld(command, call)
    }

    /// Executes `each N COMMAND`, with `%` in the command's words replaced by 1, 2 and so on up to N.
    private func repeated(_ words: [[UInt8]], _ line: String) throws -> Bool {
        guard let count = words.first.flatMap({ Int(String(decoding: $0, as: UTF8.self)) }) else { return false }
        let percent = UInt8(ascii: "%")
        for number in 1...max(1, count) {
            let digits = Array(String(number).utf8)
            let command = words.dropFirst().map { word in word.flatMap { $0 == percent ? digits : [$0] } }
            guard try run(command, line) else { return false }
        }
        return true
    }

    /// The absolute path of a script's path, NUL-terminated.
    func place(of path: [UInt8]) -> [CChar] {
        let up = Array("../".utf8)
        let below = path.starts(with: up) ? (base, Array(path.dropFirst(up.count))) : (root, path)
        let directory = below.0.withPlatformString { Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
        if below.1 == Array(".".utf8) { return directory + [0] }
        return directory + [CChar(bitPattern: UInt8(ascii: "/"))] + below.1.map { CChar(bitPattern: $0) } + [0]
    }
}

/// One command with its words.
struct Call {
    let tree: ScriptTree
    let line: String
    let words: [[UInt8]]

    /// The word at `index`.
    func word(_ index: Int) throws -> [UInt8] {
        guard index < words.count else { throw ScriptError(line, "a word is missing") }
        return words[index]
    }

    func path(_ index: Int) throws -> [CChar] { tree.place(of: try word(index)) }

    func text(_ index: Int) throws -> String { String(decoding: try word(index), as: UTF8.self) }

    /// The word at `index`, NUL-terminated for a system call.
    func bytes(_ index: Int) throws -> [CChar] { try word(index).map { CChar(bitPattern: $0) } + [0] }

    func number(_ index: Int, radix: Int = 10) throws -> Int {
        guard let number = Int(try text(index), radix: radix) else { throw ScriptError(line, "a number is expected") }
        return number
    }

    /// Whether the first word is `option`.
    func has(_ option: String) -> Bool { words.first == Array(option.utf8) }

    /// Returns the result of a system call; throws if it is an error.
    @discardableResult
    func check<Number: BinaryInteger>(_ result: Number) throws -> Number {
        if result < 0 { throw ScriptError(line, String(cString: strerror(errno))) }
        return result
    }

    /// Opens the file at `index` and calls `body` with its descriptor.
    func withFile<Value>(_ index: Int, _ flags: CInt, _ body: (CInt) throws -> Value) throws -> Value {
        let descriptor = try check(open(path(index), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644))
        defer { close(descriptor) }
        return try body(descriptor)
    }
}
