// The faults that a tree can have, and the rules that find them.

package import ArchiveFormat
package import FileIO

/// A violation of the format in a tree.
package struct TreeFault: Sendable, Hashable {
    /// The path of the entry, or the first path of the node.
    package let path: RelativePath
    /// A sentence without a full stop that names the path.
    package let message: String

    package init(_ path: RelativePath, _ message: String) {
        self.path = path
        self.message = message
    }
}

/// The rules of the format for entries in a tree.
package enum TreeRules {
    /// The most bytes in a name (`NAME_MAX`) and in a symbolic link's target (`PATH_MAX` without the NUL).
    private static let nameLimit = 255
    private static let targetLimit = 4095

    /// The fault of an entry regardless of its neighbours; nil if there is none.
    package static func fault(in entry: Entry) -> TreeFault? {
        if entry.path.isRoot, entry.kind != .directory { return TreeFault(.root, "the root is not a directory") }
        if entry.path.name.count > nameLimit {
            return TreeFault(entry.path, "the name \(shortened(entry.path.name)) is longer than a name can be")
        }
        if entry.kind == .directory, entry.linkGroup != nil {
            return TreeFault(entry.path, "the directory \(entry.path) has several names")
        }
        guard entry.kind == .symbolicLink else { return nil }
        guard case .linkTarget(let target) = entry.content else {
            return TreeFault(entry.path, "the symbolic link \(entry.path) has no target")
        }
        if target.count > targetLimit {
            return TreeFault(entry.path, "the target of the symbolic link \(entry.path) is longer than a path can be")
        }
        return nil
    }

    /// The fault if `path` follows the entry `previous`; nil if it may follow.
    ///
    /// The directory of a path is the previous entry, or also a directory above that entry. So two neighbours suffice
    /// to detect a missing directory, even if they are in different nodes.
    package static func fault(
        at path: RelativePath, after previous: RelativePath, isDirectory: Bool
    ) -> TreeFault? {
        guard previous < path else {
            return TreeFault(path, "the path \(path) comes after \(previous), out of order or for the second time")
        }
        let slash = UInt8(ascii: "/")
        let holder = path.bytes.lastIndex(of: slash) ?? 0
        guard previous.bytes.count >= holder, path.bytes[..<holder].elementsEqual(previous.bytes[..<holder]) else {
            return TreeFault(path, "the directory of \(path) is missing")
        }
        if previous.bytes.count == holder {
            return isDirectory ? nil : TreeFault(path, "\(path) is below \(previous), which is not a directory")
        }
        return holder == 0 || previous.bytes[holder] == slash
            ? nil : TreeFault(path, "the directory of \(path) is missing")
    }

    /// The beginning of a name, short enough for a message.
    private static func shortened(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.prefix(60), as: UTF8.self) + "…"
    }
}
