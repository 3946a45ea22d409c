// Entries as lines like those of `ls -l`.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO

/// The list of entries of one snapshot.
struct EntryListing {
    private let owners: [UInt32: String]
    private let groups: [UInt32: String]

    private static let sizeColumns = 10

    init(_ snapshot: Snapshot) { (owners, groups) = (snapshot.ownerNames, snapshot.groupNames) }

    /// The kind and permissions, owner, group, size, time and name.
    func listing(_ style: Style, name: @escaping (Entry) -> String) -> Listing<Entry> {
        func owner(_ entry: Entry) -> String { Escaping.text(owners[entry.owner] ?? "\(entry.owner)") }
        func group(_ entry: Entry) -> String { Escaping.text(groups[entry.group] ?? "\(entry.group)") }
        func mode(_ entry: Entry) -> String { "\(entry.kind.letter)\(Permissions.letters(entry.permissions))" }
        func target(_ entry: Entry) -> String {
            if case .linkTarget(let bytes) = entry.content { " -> " + Escaping.text(bytes) } else { "" }
        }
        var listing = Listing<Entry>(
            [
                .pipe(mode), .pipe(owner), .pipe(group), .pipe(number: { $0.size }),
                .time("time") { $0.modified }, .pipe { name($0) + target($0) },
            ], emptiness: ""
        ) { EntryJSON($0) }
        listing.personLines = { entry in
            let size = entry.kind == .file ? ByteCount.text(entry.size) : "-"
            let shown = entry.kind == .directory ? style(.cyan, name(entry)) : name(entry)
            let cells = [
                mode(entry), EntryListing.padded(owner(entry), to: 8), EntryListing.padded(group(entry), to: 8),
                String(repeating: " ", count: max(0, EntryListing.sizeColumns - size.count)) + size,
                LocalTime.text(entry.modified), shown + target(entry),
            ]
            return [cells.joined(separator: " ")]
        }
        return listing
    }

    private static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - DisplayWidth.of(text)))
    }
}
