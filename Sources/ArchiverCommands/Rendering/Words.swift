// The words for enumerations in text and JSON output.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

extension FileKind {
    /// The letter in `ls -l`.
    var letter: Character {
        switch self {
        case .file: "-"
        case .directory: "d"
        case .symbolicLink: "l"
        case .fifo: "p"
        case .socket: "s"
        case .characterDevice: "c"
        case .blockDevice: "b"
        }
    }
}

extension ChangedPath.Change {
    var word: String {
        switch self {
        case .added: "added"
        case .modified: "modified"
        case .removed: "removed"
        }
    }

    var sign: ChangeSign {
        switch self {
        case .added: .added
        case .modified: .modified
        case .removed: .removed
        }
    }
}

extension Difference.Kind {
    var sign: ChangeSign {
        switch self {
        case .added: .added
        case .modified: .modified
        case .removed: .removed
        }
    }
}

extension CombinedChange.Change {
    /// The same word as for a change in one snapshot.
    var word: String { self == .deleted ? PathVersion.Change.removed.rawValue : rawValue }
}

extension Problem.Reason {
    var word: String {
        switch self {
        case .unreadable: "unreadable"
        case .unstable: "unstable"
        case .postponed: "postponed"
        }
    }
}

/// The sign before a changed path.
enum ChangeSign: String {
    case added = "+"
    case modified = "~"
    case removed = "-"

    var word: String {
        switch self {
        case .added: "added"
        case .modified: "modified"
        case .removed: "removed"
        }
    }

    var mark: Style.Mark {
        switch self {
        case .added: .green
        case .modified: .yellow
        case .removed: .red
        }
    }
}

extension ChangeCounts {
    /// "+3 ~1 -0".
    var text: String { "+\(added) ~\(modified) -\(removed)" }
}

extension ListedSnapshot {
    /// "1a2b3c4d (2026-11-21 10:15:30)".
    var name: String { "\(id.short) (\(LocalTime.text(time)))" }
}

extension Problem {
    /// "notes/a: Permission denied".
    var text: String { "\(Escaping.text(path)): \(Escaping.text(detail))" }
}

/// Numbers of things.
enum Plural {
    /// "1 file", "3 files".
    static func of(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(count) " + (count == 1 ? one : many ?? one + "s")
    }
}
