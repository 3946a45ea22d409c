// Hard links: which names of one file are already in place.

package import ArchiveFormat
package import FileIO

/// Names of one file: what they have in common.
///
/// A group is an inode's number, and files of two file systems below one root may have the same: so names of one group
/// are names of one file only where all else is equal too.
struct LinkIdentity: Hashable {
    private let entry: Entry

    /// nil where the file has one name.
    init?(_ entry: Entry) {
        guard entry.linkGroup != nil else { return nil }
        var entry = entry
        entry.path = .root
        entry.signature = nil
        entry.isUnstable = false
        self.entry = entry
    }
}

/// Finds, for a file with several names, one that is already as it shall be.
package struct LinkGroups {
    private var members: [LinkIdentity: RelativePath] = [:]
    private let unchanged: () throws -> [LinkIdentity: RelativePath]
    private var isLoaded = false

    /// - Parameter unchanged: the names that the restore does not touch, by file; asked for at most once, and only if
    ///   there are hard links to restore.
    init(unchanged: @escaping () throws -> [LinkIdentity: RelativePath]) {
        self.unchanged = unchanged
    }

    /// A name of the file `entry` that is in place; nil where there is none yet.
    mutating func member(of entry: Entry) throws -> RelativePath? {
        guard let identity = LinkIdentity(entry) else { return nil }
        if !isLoaded {
            isLoaded = true
            members.merge(try unchanged()) { inPlace, _ in inPlace }
        }
        return members[identity]
    }

    /// Records that further names are to be those of `path`: the file that had them so far takes none any more.
    package mutating func replace(by path: RelativePath, of entry: Entry) {
        if let identity = LinkIdentity(entry) { members[identity] = path }
    }
}
