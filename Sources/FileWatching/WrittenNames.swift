// The names that were written to, because a file's times do not show every write.

package import FileIO

/// The names that were written to since the last batch; their number is bounded.
///
/// Two kinds of writes are easy to miss. First, a file may be written through a name that it has lost or never had
/// (O_TMPFILE): the event carries that name, and the file's other names get no event. Second, a store into mapped
/// memory updates the file's times only if it is the first to the page since the page was last written to the disk
/// (mmap(2): "st_ctime and st_mtime … will be updated after a write … and before a subsequent msync"). So a file that
/// was captured in between looks unchanged although it is not; when the map ends, the writer's close event is reported.
package struct WrittenNames: Sendable {
    /// The most names in both sets together; for files beyond it, only the times show a change.
    static let limit = 65_536

    /// Names of files whose content or attributes changed.
    package private(set) var changed: Set<RelativePath> = []
    /// Names that a writer closed.
    package private(set) var closed: Set<RelativePath> = []

    package init() {}

    var isEmpty: Bool { changed.isEmpty && closed.isEmpty }

    /// Records the event `mask` of the name `path`.
    mutating func record(_ mask: EventMask, of path: RelativePath) {
        if mask.contains(.closeWrite), !isFull { closed.insert(path) }
        if !mask.isDisjoint(with: [.modify, .closeWrite, .attributes]), !isFull { changed.insert(path) }
        // The file has another name now and is scanned under that name.
        if mask.contains(.movedFrom) { changed.remove(path) }
    }

    /// A copy without the names that a writer closed.
    package var withoutClosed: WrittenNames {
        var names = self
        names.closed = []
        return names
    }

    /// Adds the names of another batch up to the limit.
    package mutating func formUnion(_ other: WrittenNames) {
        for path in other.closed where !isFull { closed.insert(path) }
        for path in other.changed where !isFull { changed.insert(path) }
    }

    private var isFull: Bool { changed.count + closed.count >= WrittenNames.limit }
}
