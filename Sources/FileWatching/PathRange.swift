// The elements of a change batch: parts of the tree to scan again.

package import FileIO

/// A part of a root that may have changed.
///
/// A range says where to scan, never what happened. In all cases: if its path is no longer a directory, everything that
/// was known below it is gone too.
package enum PathRange: Hashable, Sendable {
    /// The path itself; if it is a directory, only its own status.
    case entry(RelativePath)
    /// A directory and every name directly in it; only unknown subdirectories are entered.
    case children(RelativePath)
    /// A path and everything below it.
    case subtree(RelativePath)

    /// The path the range starts at.
    package var path: RelativePath {
        switch self {
        case .entry(let path), .children(let path), .subtree(let path): path
        }
    }

    /// Whether scanning the range includes `path`.
    package func covers(_ path: RelativePath) -> Bool {
        switch self {
        case .entry(let own): own == path
        case .children(let own): own == path || path.parent == own
        case .subtree(let own): own.contains(path)
        }
    }
}

extension PathRange: Comparable {
    /// Walk order of the paths; at one path the wider range comes later.
    package static func < (left: PathRange, right: PathRange) -> Bool {
        let order = RelativePath.walkOrder(left.path.bytes, right.path.bytes)
        return order == 0 ? left.breadth < right.breadth : order < 0
    }

    private var breadth: Int {
        switch self {
        case .entry: 0
        case .children: 1
        case .subtree: 2
        }
    }
}
