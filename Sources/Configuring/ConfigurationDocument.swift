// The content of a configuration file: its tables, checked against the schema, each value with its line.

package import SystemPackage
internal import TOMLKit

/// A value of the file.
package struct ConfigurationEntry: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case text(String)
        case flag(Bool)
        case texts([String])
    }

    package let key: String
    package let value: Value
    /// The line where it begins, from 1.
    package let line: Int
}

/// One table of the file.
package struct ConfigurationTable: Sendable, Hashable {
    /// The line where it begins.
    package let line: Int
    /// Its values, in the order of their lines.
    package fileprivate(set) var entries: [ConfigurationEntry] = []

    package subscript(_ key: String) -> ConfigurationEntry? { entries.first { $0.key == key } }
}

/// A valid configuration file.
package struct ConfigurationDocument: Sendable {
    package struct Root: Sendable, Hashable {
        package let table: ConfigurationTable
        package let keep: ConfigurationTable?
        /// The lines of the root; nil if roots are written as a list of values.
        package let lines: ClosedRange<Int>?
    }

    package let file: FilePath
    package let top: ConfigurationTable
    package let keep: ConfigurationTable?
    package let budget: ConfigurationTable?
    package let roots: [Root]

    /// - Parameter text: the file's content.
    /// - Throws: `ConfigurationError` for wrong syntax, an unknown key, or a value of another type.
    package init(_ text: String, file: FilePath) throws(ConfigurationError) {
        self.file = file
        // The library passes texts on as C strings, which end at a NUL.
        if text.utf8.contains(0) || text.contains("\\u0000") || text.contains("\\U00000000") {
            throw ConfigurationError(file, line: nil, "the file contains a NUL character", remedy: "remove it")
        }
        let statements = StatementLines(text)
        if let (line, reason) = statements.fault {
            throw ConfigurationError(
                file, line: line, "this is not TOML: \(reason)", remedy: ConfigurationDocument.syntax)
        }
        let table: TOMLTable
        do { table = try TOMLTable(string: text) } catch {
            guard let error = error as? TOMLParseError else {
                throw ConfigurationError(
                    file, line: nil, "this is not TOML: \(error)", remedy: ConfigurationDocument.syntax)
            }
            throw ConfigurationError(
                file, line: error.source.begin.line,
                "this is not TOML: \(ConfigurationDocument.oneLine(error.description))",
                remedy: ConfigurationDocument.syntax)
        }
        let reader = TableReader(file: file, statements: statements)
        (top, keep, budget, roots) = try reader.read(table)
    }

    /// A file without content.
    package init(empty file: FilePath) {
        self.file = file
        top = ConfigurationTable(line: 1)
        (keep, budget, roots) = (nil, nil, [])
    }

    private static let syntax = "texts stand in quotes; a root begins with [[root]]"

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

/// Reads the tables of a parsed file.
private struct TableReader {
    let file: FilePath
    let statements: StatementLines

    typealias Content = (
        top: ConfigurationTable, keep: ConfigurationTable?, budget: ConfigurationTable?,
        roots: [ConfigurationDocument.Root]
    )

    func read(_ table: TOMLTable) throws(ConfigurationError) -> Content {
        let top = try read(table, .top, at: "")
        let keep = try inner(of: table, "keep", .keep, at: "keep")
        let budget = try inner(of: table, "budget", .budget, at: "budget")
        var roots: [ConfigurationDocument.Root] = []
        if let value = table["root"] {
            guard let array = value.array else {
                throw wrong(
                    "root", "'root' is one table", remedy: "write [[root]], in two pairs of brackets, for each root")
            }
            for index in 0..<array.count {
                let path = "root[\(index)]"
                guard let root = array[index].table else {
                    throw wrong(
                        "root", "'root' holds something else than tables", remedy: "write [[root]] for each root")
                }
                roots.append(
                    ConfigurationDocument.Root(
                        table: try read(root, .root, at: path),
                        keep: try inner(of: root, "keep", .rootKeep, at: "\(path).keep"),
                        lines: statements.roots.indices.contains(index) ? statements.roots[index] : nil))
            }
        }
        return (top, keep, budget, roots)
    }

    private func inner(
        of table: TOMLTable, _ key: String, _ kind: ConfigurationSchema.Table, at path: String
    ) throws(ConfigurationError) -> ConfigurationTable? {
        guard let value = table[key] else { return nil }
        guard let inner = value.table else {
            throw wrong(path, "'\(key)' must be a table", remedy: "write \(kind.header) on a line of its own")
        }
        return try read(inner, kind, at: path)
    }

    private func read(
        _ table: TOMLTable, _ kind: ConfigurationSchema.Table, at path: String
    ) throws(ConfigurationError) -> ConfigurationTable {
        let (types, tables) = (kind.keys, ConfigurationSchema.tables(in: kind))
        var result = ConfigurationTable(line: statements.lines[path] ?? 1)
        for key in table.keys where !tables.contains(key) {
            let place = path.isEmpty ? key : "\(path).\(key)"
            let line = statements.lines[place] ?? result.line
            guard let type = types[key] else { throw unknown(key, in: kind, line) }
            guard let value = value(table[key], type) else {
                throw ConfigurationError(
                    file, line: line, "'\(key)' must be \(type.rawValue)", remedy: TableReader.example(key, type))
            }
            result.entries.append(ConfigurationEntry(key: key, value: value, line: line))
        }
        result.entries.sort { ($0.line, $0.key) < ($1.line, $1.key) }
        return result
    }

    private func value(
        _ value: (any TOMLValueConvertible)?, _ type: ConfigurationSchema.ValueType
    ) -> ConfigurationEntry.Value? {
        switch type {
        case .text: return value?.string.map { .text($0) }
        case .flag: return value?.bool.map { .flag($0) }
        case .texts:
            guard let array = value?.array else { return nil }
            var texts: [String] = []
            for index in 0..<array.count {
                guard let text = array[index].string else { return nil }
                texts.append(text)
            }
            return .texts(texts)
        }
    }

    private static func example(_ key: String, _ type: ConfigurationSchema.ValueType) -> String {
        switch type {
        case .text: "write \(key) = \"…\""
        case .flag: "write \(key) = true"
        case .texts: "write \(key) = [\"…\", \"…\"]"
        }
    }

    private func unknown(_ key: String, in kind: ConfigurationSchema.Table, _ line: Int) -> ConfigurationError {
        let home = ConfigurationSchema.otherTable(with: key, than: kind)
        return ConfigurationError(
            file, line: line, "unknown key '\(key)'",
            remedy: home.map { "'\(key)' belongs to \($0.header)" },
            unknown: home == nil ? (key, kind.keys.keys.sorted() + ConfigurationSchema.tables(in: kind)) : nil)
    }

    private func wrong(_ path: String, _ reason: String, remedy: String) -> ConfigurationError {
        ConfigurationError(file, line: statements.lines[path], reason, remedy: remedy)
    }
}

/// A configuration file that cannot be used.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package let file: FilePath
    /// The line, from 1; nil if the whole file is meant.
    package let line: Int?
    /// What is wrong, to follow the place.
    package let reason: String
    /// What to do about it.
    package var remedy: String?
    /// The unknown key, and those that may stand in its place.
    package var unknown: (word: String, known: [String])?

    package init(
        _ file: FilePath, line: Int?, _ reason: String, remedy: String? = nil,
        unknown: (word: String, known: [String])? = nil
    ) {
        self.file = file
        self.line = line
        self.reason = reason
        self.remedy = remedy
        self.unknown = unknown
    }

    /// "/home/ann/.config/archiver/config.toml:12: unknown key 'setle'".
    package var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}
