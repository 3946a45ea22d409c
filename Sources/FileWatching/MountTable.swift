// Where file systems are mounted, as proc(5) tells it in /proc/self/mountinfo.

internal import FileIO

/// The mounts that a process sees.
struct MountTable: Hashable {
    /// One mount: the same place mounted again is another.
    struct Mount: Hashable {
        let id: UInt64
        /// The absolute path.
        let path: [UInt8]
    }

    let mounts: Set<Mount>

    /// Reads the lines of a mountinfo file; one that is not understood is left out.
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

    /// Blanks, newlines and backslashes are written as `\` and three octal digits.
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

/// How a mount point lies to a root.
enum MountRelation: Hashable {
    /// At the root or above it: what is at the root's path may be something else now.
    case covers
    /// Below it.
    case inside(RelativePath)
    case elsewhere

    /// - Parameters:
    ///   - point: an absolute path.
    ///   - root: the root's absolute path, without links.
    init(of point: [UInt8], to root: [UInt8]) {
        // As paths below "/".
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
