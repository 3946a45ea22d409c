// Hard links: finds names of a file that are already in place.

package import ArchiveFormat
package import FileIO

/// What all names of one file have in common.
///
/// A group is an inode number, and two file systems below one root may have the same number. So names of one group
/// belong to one file only if everything else is equal too.
struct LinkIdentity: Hashable {
    private let entry: Entry

    /// The identity of the file of `entry`; nil if the file has one name.
    init?(_ entry: Entry) {
        guard entry.linkGroup != nil else { return nil }
        var entry = entry
        entry.path = .root
        entry.signature = nil
        entry.isUnstable = false
        self.entry = entry
    }
}

/// Finds, for a file with several names, a name that already has the wanted state.
package struct LinkGroups {
    private var members: [LinkIdentity: RelativePath] = [:]
    private let unchanged: () throws -> [LinkIdentity: RelativePath]
    private var isLoaded = false

    /// - Parameter unchanged: returns the names that the restore does not touch, by file; called at most once, and only
    ///   if there are hard links to restore.
    init(unchanged: @escaping () throws -> [LinkIdentity: RelativePath]) {
        self.unchanged = unchanged
    }

    /// Returns a name of the file `entry` that is in place; nil if there is none yet.
    mutating func member(of entry: Entry) throws -> RelativePath? {
        guard let identity = LinkIdentity(entry) else { return nil }
        if !isLoaded {
            isLoaded = true
            members.merge(try unchanged()) { inPlace, _ in inPlace }
        }
        return members[identity]
    }

    /// Records that further names of the file are links to `path`: the former file can have no more names.
    package mutating func replace(by path: RelativePath, of entry: Entry) {
        if let identity = LinkIdentity(entry) { members[identity] = path }
    }
}
