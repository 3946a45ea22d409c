// Names that something was written to: what their inodes' times say is not always the whole truth.

package import FileIO

/// The names that something was written to since the last batch; bounded.
///
/// Two things happen that leave no trace where one looks for it. A file may be written through a name that it has lost, or
/// never had (O_TMPFILE): the event bears that name, and another name of the file is left as it seems. And stores into
/// mapped memory change the file's time only where a page is written to for the first time since it last went to the disk
/// (mmap(2): "st_ctime and st_mtime … will be updated after a write … and before a subsequent msync"), so a file that was
/// captured in between looks unchanged although it is not; when the map ends, a writer's close is told.
package struct WrittenNames: Sendable {
    /// Names in both sets together; of what comes beyond, only the times tell.
    static let limit = 65_536

    /// Names whose file's content or attributes changed.
    package private(set) var changed: Set<RelativePath> = []
    /// Names that a writer closed.
    package private(set) var closed: Set<RelativePath> = []

    package init() {}

    var isEmpty: Bool { changed.isEmpty && closed.isEmpty }

    /// Records the event `mask` of the name `path`.
    mutating func record(_ mask: EventMask, of path: RelativePath) {
        if mask.contains(.closeWrite), !isFull { closed.insert(path) }
        if !mask.isDisjoint(with: [.modify, .closeWrite, .attributes]), !isFull { changed.insert(path) }
        // What had the name has another one now, under which it is looked at.
        if mask.contains(.movedFrom) { changed.remove(path) }
    }

    /// The same without the names that a writer closed.
    package var withoutClosed: WrittenNames {
        var names = self
        names.closed = []
        return names
    }

    /// Adds names of another batch, as far as there is room.
    package mutating func formUnion(_ other: WrittenNames) {
        for path in other.closed where !isFull { closed.insert(path) }
        for path in other.changed where !isFull { changed.insert(path) }
    }

    private var isFull: Bool { changed.count + closed.count >= WrittenNames.limit }
}
