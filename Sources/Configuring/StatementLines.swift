// The lines of a TOML text: where each key and each table begins.
//
// The TOML library names lines only in errors of syntax, and ends the process on some texts whose brackets do not match.
// So the text is split into its statements first, by brackets and quotes alone (TOML 1.0, toml.io); each is parsed on its
// own.

internal import TOMLKit

/// Where the keys and the roots of a text are.
struct StatementLines {
    /// The line of each key, by its path: `archive`, `root[2].settle`, `root[2].keep.daily`.
    private(set) var lines: [String: Int] = [:]
    /// The lines of each `[[root]]`, with its keys and its tables; empty if roots are written as a list of values.
    private(set) var roots: [ClosedRange<Int>] = []
    /// The first line that no statement has, and why; nil if there is none.
    ///
    /// The library does not survive such a line, so it must not get the text.
    private(set) var fault: (line: Int, reason: String)?

    init(_ text: String) {
        var prefix: [String] = []
        var isInRoot = false
        var splitter = StatementSplitter()
        for line in text.lines { if !splitter.add(line.last == "\r" ? line.dropLast() : line) { break } }
        splitter.finish()
        fault = splitter.fault
        for (range, statement) in splitter.statements {
            guard fault == nil, let table = try? TOMLTable(string: statement) else { continue }
            if statement.first == "[" {
                prefix = header(table)
                isInRoot = prefix.first?.hasPrefix("root[") ?? false
                lines[prefix.joined(separator: ".")] = range.lowerBound
                if isInRoot, prefix.count == 1 { roots.append(range) }
            } else {
                add(table, at: prefix, range.lowerBound)
            }
            if isInRoot, let last = roots.indices.last { roots[last] = roots[last].lowerBound...range.upperBound }
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

/// Splits a text into headers and keys with their values; the values may have several lines.
private struct StatementSplitter {
    private(set) var statements: [(lines: ClosedRange<Int>, text: String)] = []
    private(set) var fault: (line: Int, reason: String)?
    private var number = 0
    /// The lines of the statement that has not ended.
    private var open: (first: Int, lines: [Substring])?
    /// The brackets that must be closed, as their closing ones.
    private var closers: [UInt8] = []
    /// The quote of a text of several lines that has not ended.
    private var quote: UInt8?

    private static let quotes = Array("\"'".utf8)

    /// Adds the next line, without its end.
    ///
    /// - Returns: whether it can be a line of a statement.
    mutating func add(_ line: Substring) -> Bool {
        number += 1
        var line = line
        if open == nil {
            line = line.drop { $0 == " " || $0 == "\t" }
            if line.isEmpty || line.first == "#" { return true }
            guard StatementSplitter.hasName(line) else { return refuse("a table has no name") }
            open = (number, [])
        }
        open?.lines.append(line)
        guard scan(Array(line.utf8)) else { return refuse("brackets or quotes do not match") }
        if closers.isEmpty, quote == nil, let (first, lines) = open {
            statements.append((first...number, lines.joined(separator: "\n")))
            open = nil
        }
        return true
    }

    /// Ends the text.
    mutating func finish() {
        guard fault == nil, let open else { return }
        fault = (open.first, "a bracket or a quote is not closed")
    }

    private mutating func refuse(_ reason: String) -> Bool {
        fault = (number, reason)
        return false
    }

    /// Follows brackets and quotes through a line; returns false if they do not match.
    private mutating func scan(_ bytes: [UInt8]) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if let quote {
                if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                    index += 2
                } else if byte == quote, isTriple(bytes, index) {
                    // Up to two quotes may stand before the three that end it.
                    index += bytes[index...].prefix { $0 == quote }.count
                    self.quote = nil
                } else {
                    index += 1
                }
            } else if byte == UInt8(ascii: "#") {
                return true
            } else if StatementSplitter.quotes.contains(byte) {
                if isTriple(bytes, index) {
                    quote = byte
                    index += 3
                } else {
                    guard let end = end(ofTextAt: index, in: bytes) else { return false }
                    index = end
                }
            } else {
                switch byte {
                case UInt8(ascii: "["): closers.append(UInt8(ascii: "]"))
                case UInt8(ascii: "{"): closers.append(UInt8(ascii: "}"))
                case UInt8(ascii: "]"), UInt8(ascii: "}"): guard closers.popLast() == byte else { return false }
                default: break
                }
                index += 1
            }
        }
        return true
    }

    private func isTriple(_ bytes: [UInt8], _ index: Int) -> Bool {
        index + 2 < bytes.count && bytes[index + 1] == bytes[index] && bytes[index + 2] == bytes[index]
    }

    /// The index after a text of one line; nil if it does not end.
    private func end(ofTextAt start: Int, in bytes: [UInt8]) -> Int? {
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == bytes[start] { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") && bytes[start] == UInt8(ascii: "\"") ? 2 : 1
        }
        return nil
    }

    /// Whether a line with which a statement begins is no header, or one with a name.
    private static func hasName(_ line: Substring) -> Bool {
        guard line.first == "[" else { return true }
        var name = line.dropFirst()
        if name.first == "[" { name = name.dropFirst() }
        name = name.drop { $0 == " " || $0 == "\t" }
        guard let first = name.utf8.first else { return false }
        switch first {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "_-\"'".utf8.contains(first)
        }
    }
}
