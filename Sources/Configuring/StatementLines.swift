// The lines of a TOML text: where each key and each table begins.
//
// The TOML library names lines only in errors of syntax. So the text is split into its statements, each of which the
// library parses on its own: the first lines that it accepts are a statement.

internal import TOMLKit

/// Where the keys and the roots of a valid text are.
struct StatementLines {
    /// The line of each key, by its path: `archive`, `root[2].settle`, `root[2].keep.daily`.
    private(set) var lines: [String: Int] = [:]
    /// The lines of each `[[root]]`, with its keys and its tables; empty if roots are written as a list of values.
    private(set) var roots: [ClosedRange<Int>] = []
    /// The first line that begins like a table but names none; nil if there is none.
    ///
    /// The library does not survive such a line, so it must not get it.
    private(set) var badHeader: Int?

    init(_ text: String) {
        var prefix: [String] = []
        var statement = ""
        var first = 1
        var number = 0
        var isInRoot = false
        for line in text.lines {
            number += 1
            let line = line.last == "\r" ? line.dropLast() : line
            let content = line.drop { $0 == " " || $0 == "\t" }
            if statement.isEmpty {
                if content.isEmpty || content.first == "#" { continue }
                first = number
                if !StatementLines.isAcceptable(content) {
                    badHeader = number
                    return
                }
            }
            statement += statement.isEmpty ? line : "\n" + line
            // Only these can end a statement of several lines; each attempt costs its whole length.
            guard first == number || line.contains(where: { "]}\"'".contains($0) }) else { continue }
            guard let table = try? TOMLTable(string: statement) else { continue }
            if statement.drop(while: { $0 == " " || $0 == "\t" }).first == "[" {
                prefix = header(table)
                isInRoot = prefix.first?.hasPrefix("root[") ?? false
                lines[prefix.joined(separator: ".")] = first
                if isInRoot, prefix.count == 1 { roots.append(first...number) }
            } else {
                add(table, at: prefix, first)
            }
            if isInRoot, let last = roots.indices.last { roots[last] = roots[last].lowerBound...number }
            statement = ""
        }
    }

    /// Whether the library can read a line with which a statement begins: a header must continue with a name.
    private static func isAcceptable(_ line: Substring) -> Bool {
        guard line.first == "[" else { return true }
        var name = line.dropFirst()
        if name.first == "[" { name = name.dropFirst() } else { name = name.drop { $0 == " " || $0 == "\t" } }
        // The same without its check for blanks: the library refuses "[ [" itself.
        if name.first == "[", line.dropFirst().first != "[" { return true }
        name = name.drop { $0 == " " || $0 == "\t" }
        guard let first = name.utf8.first else { return false }
        switch first {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "_-\"']".utf8.contains(first)
        }
    }

    /// The path of the table that a header begins.
    private func header(_ table: TOMLTable) -> [String] {
        var path: [String] = []
        var rest: TOMLTable? = table
        while let table = rest, let name = table.keys.first {
            let isRoot = name == "root" && path.isEmpty
            if table[name]?.array != nil {
                path.append(isRoot ? "root[\(roots.count)]" : name)
                rest = nil
            } else {
                path.append(isRoot && !roots.isEmpty ? "root[\(roots.count - 1)]" : name)
                rest = table[name]?.table
            }
        }
        return path
    }

    /// Records the keys of `table` and of the tables in it.
    private mutating func add(_ table: TOMLTable, at prefix: [String], _ line: Int) {
        for key in table.keys {
            let path = prefix + [key]
            record(path, line)
            if let inner = table[key]?.table { add(inner, at: path, line) }
            guard let array = table[key]?.array else { continue }
            for index in 0..<array.count {
                guard let inner = array[index].table else { continue }
                let path = prefix + ["\(key)[\(index)]"]
                record(path, line)
                add(inner, at: path, line)
            }
        }
    }

    private mutating func record(_ path: [String], _ line: Int) {
        let name = path.joined(separator: ".")
        if lines[name] == nil { lines[name] = line }
    }
}
