// Hard links: which names of one file are already in place.

internal import ArchiveFormat
internal import FileIO

/// Finds, for a file with several names, one that is already as it shall be.
struct LinkGroups {
    private var members: [UInt64: RelativePath] = [:]
    private let unchanged: () throws -> [UInt64: RelativePath]
    private var isLoaded = false

    /// - Parameter unchanged: the names that the restore does not touch, by group; asked for at most once, and only if
    ///   there are hard links to restore.
    init(unchanged: @escaping () throws -> [UInt64: RelativePath]) {
        self.unchanged = unchanged
    }

    /// A name of the group that is in place; nil where there is none yet.
    mutating func member(of group: UInt64) throws -> RelativePath? {
        if !isLoaded {
            isLoaded = true
            // Names that are in place by now because the restore gave them their metadata stay known.
            members.merge(try unchanged()) { inPlace, _ in inPlace }
        }
        return members[group]
    }

    /// Notes that the name `path` of the group is in place.
    mutating func add(_ path: RelativePath, to group: UInt64) {
        if members[group] == nil { members[group] = path }
    }
}
