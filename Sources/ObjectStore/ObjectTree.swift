// Lists objects that are files in directories, in the order of whole names.

/// An entry of a directory of objects.
struct ObjectTreeItem {
    enum Kind { case directory, object }

    let name: String
    let kind: Kind
    /// The object's length in bytes.
    let length: UInt64

    /// A directory is compared with the slash that its objects' names have.
    fileprivate var sortedText: String { kind == .directory ? name + "/" : name }
}

enum ObjectTree {
    /// Calls `body` for every object whose name begins with `prefix`: `a-b` is before `a/b`, which is before `ab`.
    ///
    /// - Parameter children: the entries of a directory; empty is the store's own.
    static func list(
        _ prefix: String, in directory: String = "",
        children: (_ directory: String) throws(ObjectStoreError) -> [ObjectTreeItem],
        _ body: (ObjectEntry) throws -> Void
    ) throws {
        guard ObjectName.canBegin(prefix) else { return }
        let items = try children(directory).sorted { $0.sortedText.utf8.lexicographicallyPrecedes($1.sortedText.utf8) }
        for item in items {
            let path = directory.isEmpty ? item.name : "\(directory)/\(item.name)"
            guard let name = ObjectName(path) else { continue }
            switch item.kind {
            case .object where path.hasPrefix(prefix): try body(ObjectEntry(name: name, length: item.length))
            case .directory where (path + "/").hasPrefix(prefix) || prefix.hasPrefix(path + "/"):
                try list(prefix, in: path, children: children, body)
            default: break
            }
        }
    }
}
