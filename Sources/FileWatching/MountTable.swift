// The mount table, parsed from /proc/self/mountinfo (proc(5)).

internal import FileIO

/// The mounts visible to a process.
struct MountTable: Hashable {
    /// One mount; mounting the same path again makes a different one.
    struct Mount: Hashable {
        let id: UInt64
        /// The absolute path.
        let path: [UInt8]
    }

    let mounts: Set<Mount>

    /// Parses the lines of a mountinfo file and skips invalid ones.
    init(_ text: [UInt8]) {
        mounts = Set(text.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) })
    }

    /// The paths at which something was mounted or unmounted.
    func changes(from old: MountTable) -> Set<[UInt8]> {
        Set(mounts.symmetricDifference(old.mounts).map(\.path))
    }
}

extension MountTable.Mount {
    private static let idField = 0
    private static let pathField = 4

    fileprivate init?(line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: Self.pathField + 1)
        guard fields.count > Self.pathField,
            let id = UInt64(String(decoding: fields[Self.idField], as: UTF8.self))
        else { return nil }
        self.init(id: id, path: Self.unescaped(fields[Self.pathField]))
    }

    /// Decodes a field in which blanks, newlines and backslashes are written as `\` and three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = [UInt8]()
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

/// The position of a mount point relative to a root.
enum MountRelation: Hashable {
    /// At the root or above it: the root's path may now lead to something else.
    case covers
    /// Below the root.
    case inside(RelativePath)
    case elsewhere

    /// - Parameters:
    ///   - point: an absolute path.
    ///   - root: the root's absolute path, without links.
    init(of point: [UInt8], to root: [UInt8]) {
        // Make both paths relative to "/".
        let point = RelativePath(unchecked: Array(point.dropFirst()))
        let root = RelativePath(unchecked: Array(root.dropFirst()))
        if point.contains(root) {
            self = .covers
        } else if let below = root.suffix(of: point) {
            self = .inside(below)
        } else {
            self = .elsewhere
        }
    }
}
