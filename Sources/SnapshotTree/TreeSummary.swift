// The summary of a node and everything below it: enough to check that neighbouring nodes fit, and to count a tree.

package import ArchiveFormat
package import FileIO

/// A summary of a node and everything below it.
package struct TreeSummary: Sendable {
    package let level: Int
    package let firstPath: RelativePath
    package private(set) var lastPath: RelativePath
    package private(set) var lastIsDirectory: Bool
    package private(set) var entries: UInt64 = 0
    /// The number of entries of each kind, and the sum of the files' sizes.
    package private(set) var totals = Totals()
    /// Whether any entry is one of several names of a file.
    package private(set) var hasLinks = false
    /// Whether a sum exceeds 64 bits.
    package private(set) var overflows = false

    /// A summary that begins with `entry`.
    init(_ entry: Entry) {
        level = 0
        firstPath = entry.path
        lastPath = entry.path
        lastIsDirectory = false
        add(entry)
    }

    /// A summary of a node of `level` whose first child has the summary `first`.
    init(level: Int, first: TreeSummary) {
        self.level = level
        firstPath = first.firstPath
        lastPath = first.lastPath
        lastIsDirectory = false
        add(first)
    }

    /// Adds the next entry.
    mutating func add(_ entry: Entry) {
        lastPath = entry.path
        lastIsDirectory = entry.kind == .directory
        entries += 1
        hasLinks = hasLinks || entry.linkGroup != nil
        switch entry.kind {
        case .file: totals.files += 1
        case .directory: totals.directories += 1
        default: totals.others += 1
        }
        add(entry.size, to: \.totals.bytes)
    }

    /// Adds the next node.
    mutating func add(_ other: TreeSummary) {
        lastPath = other.lastPath
        lastIsDirectory = other.lastIsDirectory
        hasLinks = hasLinks || other.hasLinks
        overflows = overflows || other.overflows
        add(other.entries, to: \.entries)
        add(other.totals.files, to: \.totals.files)
        add(other.totals.directories, to: \.totals.directories)
        add(other.totals.others, to: \.totals.others)
        add(other.totals.bytes, to: \.totals.bytes)
    }

    private mutating func add(_ number: UInt64, to sum: WritableKeyPath<TreeSummary, UInt64>) {
        let (result, overflow) = self[keyPath: sum].addingReportingOverflow(number)
        self[keyPath: sum] = result
        overflows = overflows || overflow
    }
}
