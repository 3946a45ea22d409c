// What can be wrong with a tree, and the rules by which that is found.

package import ArchiveFormat
package import FileIO

/// Something in a tree that is not as the format says.
package struct TreeFault: Sendable, Hashable {
    /// Where it is: an entry's path, or the first one of a node.
    package let path: RelativePath
    /// What it is, as a sentence without its full stop; names the path.
    package let message: String

    package init(_ path: RelativePath, _ message: String) {
        self.path = path
        self.message = message
    }
}

/// The rules of the format that concern an entry as a part of a tree.
package enum TreeRules {
    /// The most bytes of a name (`NAME_MAX`), and of a symbolic link's target (`PATH_MAX` without its NUL).
    private static let nameLimit = 255
    private static let targetLimit = 4095

    /// What is wrong with an entry wherever it stands; nil for a good one.
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

    /// What is wrong where `path` follows the entry `previous`; nil where it may.
    ///
    /// The directory that holds a path is the entry before it, or it holds that one as well: so two neighbours tell that
    /// no directory is missing, in whatever nodes they are.
    package static func fault(
        at path: RelativePath, after previous: RelativePath, isDirectory: Bool
    ) -> TreeFault? {
        guard previous < path else {
            return TreeFault(path, "the path \(path) comes behind \(previous), out of order or for the second time")
        }
        let slash = UInt8(ascii: "/")
        let holder = path.bytes.lastIndex(of: slash) ?? 0
        guard previous.bytes.count >= holder, path.bytes[..<holder].elementsEqual(previous.bytes[..<holder]) else {
            return TreeFault(path, "the directory that holds \(path) is missing")
        }
        if previous.bytes.count == holder {
            return isDirectory ? nil : TreeFault(path, "\(path) is below \(previous), which is not a directory")
        }
        return holder == 0 || previous.bytes[holder] == slash
            ? nil : TreeFault(path, "the directory that holds \(path) is missing")
    }

    /// What a message can hold of a name of any length.
    private static func shortened(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.prefix(60), as: UTF8.self) + "…"
    }
}
