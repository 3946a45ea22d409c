// Entries as lines like those of `ls -l`.

internal import ArchiveFormat
internal import FileIO

/// The lines for entries of one snapshot.
struct EntryListing {
    private let owners: [UInt32: String]
    private let groups: [UInt32: String]
    private let isForPerson: Bool
    private let style: Style

    private static let sizeColumns = 10

    init(_ snapshot: Snapshot, _ console: Console) {
        owners = snapshot.ownerNames
        groups = snapshot.groupNames
        isForPerson = console.isForPerson
        style = console.style
    }

    /// The kind and permissions, owner, group, size, time and name; aligned for a person, with tabs for a program.
    func line(_ entry: Entry, name: String) -> String {
        let mode = "\(entry.kind.letter)\(Permissions.letters(entry.permissions))"
        let owner = Escaping.text(owners[entry.owner] ?? "\(entry.owner)")
        let group = Escaping.text(groups[entry.group] ?? "\(entry.group)")
        var target = ""
        if case .linkTarget(let bytes) = entry.content { target = " -> " + Escaping.text(bytes) }
        guard isForPerson else {
            return TextTable.plain([
                mode, owner, group, "\(entry.size)", LocalTime.plain(entry.modified), name + target,
            ])
        }
        let size = entry.kind == .file ? ByteCount.text(entry.size) : "-"
        let shown = entry.kind == .directory ? style(.cyan, name) : name
        return [
            mode, EntryListing.padded(owner, to: 8), EntryListing.padded(group, to: 8),
            String(repeating: " ", count: max(0, EntryListing.sizeColumns - size.count)) + size,
            LocalTime.text(entry.modified), shown + target,
        ].joined(separator: " ")
    }

    private static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - DisplayWidth.of(text)))
    }
}
