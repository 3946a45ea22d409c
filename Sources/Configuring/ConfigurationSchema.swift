// The tables and keys of the configuration file: the one list that reading, checking and the article follow.

/// The keys that the file may have.
package enum ConfigurationSchema {
    /// A table of the file.
    package enum Table: String, Sendable, CaseIterable {
        /// Keys before the first table.
        case top = ""
        /// Which snapshots of all roots are kept.
        case keep
        /// How much space the archive may take.
        case budget
        /// One root; may be repeated.
        case root
        /// Which snapshots of one root are kept.
        case rootKeep = "root.keep"

        /// The table as it begins in the file.
        package var header: String {
            switch self {
            case .top: "the top of the file"
            case .root: "[[root]]"
            case .keep, .budget, .rootKeep: "[\(rawValue)]"
            }
        }

        /// Its keys and the types of their values.
        package var keys: [String: ValueType] {
            switch self {
            case .top: ["archive": .text, "on-event": .text, "log-file": .text, "private-logs": .flag]
            case .keep, .rootKeep: ConfigurationSchema.keep
            case .budget: ["max-size": .text, "min-free": .text]
            case .root: ConfigurationSchema.root
            }
        }
    }

    /// The type of a value.
    package enum ValueType: String, Sendable {
        case text = "a text in quotes"
        case flag = "true or false"
        case texts = "a list of texts"
    }

    private static let keep: [String: ValueType] = [
        "policy": .text, "each": .text, "minutely": .text, "hourly": .text, "daily": .text, "weekly": .text,
    ]

    private static let root: [String: ValueType] = [
        "path": .text, "exclude": .texts, "exclude-larger-than": .text, "exclude-caches": .flag,
        "use-gitignore": .flag, "cross-file-systems": .flag, "default-exclusions": .flag, "settle": .text,
        "max-delay": .text, "audit-interval": .text, "large-file": .text, "large-file-delay": .text,
    ]

    /// The tables that may stand in a table.
    static func tables(in table: Table) -> [String] {
        switch table {
        case .top: ["keep", "budget", "root"]
        case .root: ["keep"]
        case .keep, .budget, .rootKeep: []
        }
    }

    /// The table that has `key`, other than `table`.
    static func otherTable(with key: String, than table: Table) -> Table? {
        Table.allCases.first { $0 != table && $0.keys[key] != nil }
    }
}
