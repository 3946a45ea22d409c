// Compares two directories: names, kinds, permissions, owners, times, links and contents.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Compares directories.
struct TreeComparison {
    /// Whether modification times count.
    var includesTimes = true
    private var left = [UInt8](repeating: 0, count: 1 << 17)
    private var right = [UInt8](repeating: 0, count: 1 << 17)

    init(includesTimes: Bool = true) { self.includesTimes = includesTimes }

    /// Checks that two directories are equal.
    ///
    /// - Throws: `BenchmarkError` with the first different path if they are not.
    static func check(_ left: FilePath, _ right: FilePath, includesTimes: Bool = true) throws {
        var comparison = TreeComparison(includesTimes: includesTimes)
        if let difference = try comparison.firstDifference(left, right) {
            throw BenchmarkError("\(right) is not what \(left) is: \(difference)")
        }
    }

    /// Returns the first path at which the directories differ, and how; nil if they are equal.
    mutating func firstDifference(_ left: FilePath, _ right: FilePath) throws -> String? {
        let leftDirectory = try Descriptor.open(left, O_RDONLY | O_DIRECTORY)
        let rightDirectory = try Descriptor.open(right, O_RDONLY | O_DIRECTORY)
        return try compare(leftDirectory, rightDirectory, .root)
    }

    private mutating func compare(
        _ left: borrowing Descriptor, _ right: borrowing Descriptor, _ path: RelativePath
    ) throws -> String? {
        try Interruption.check()
        let names = try DirectoryReader.list(left, path: path).map(\.name)
        let others = try DirectoryReader.list(right, path: path).map(\.name)
        guard names == others else { return "\(path): other names" }
        for name in names {
            let child = path.appending(name)
            let cName = CName(name)
            guard let status = try FileStatus.read(cName, in: left, path: child),
                let other = try FileStatus.read(cName, in: right, path: child)
            else { return "\(child): missing" }
            if let what = difference(status, other) { return "\(child): another \(what)" }
            switch status.kind {
            case .directory:
                let leftChild = try left.open(cName, O_RDONLY | O_DIRECTORY, path: child)
                let rightChild = try right.open(cName, O_RDONLY | O_DIRECTORY, path: child)
                if let difference = try compare(leftChild, rightChild, child) { return difference }
            case .file:
                let leftFile = try left.open(cName, O_RDONLY, path: child)
                let rightFile = try right.open(cName, O_RDONLY, path: child)
                if try !haveSameContent(leftFile, rightFile, child) { return "\(child): another content" }
            case .symbolicLink:
                let place = FilePath(child.description)
                let target = try left.readLink(cName, path: place)
                if try right.readLink(cName, path: place) != target { return "\(child): another target" }
            default: break
            }
        }
        return nil
    }

    private func difference(_ left: FileStatus, _ right: FileStatus) -> String? {
        if left.kind != right.kind { return "kind" }
        if left.permissions != right.permissions { return "mode" }
        if left.owner != right.owner || left.group != right.group { return "owner" }
        if left.kind == .file, left.size != right.size { return "size" }
        return includesTimes && left.modified != right.modified ? "time of modification" : nil
    }

    private mutating func haveSameContent(
        _ leftFile: borrowing Descriptor, _ rightFile: borrowing Descriptor, _ path: RelativePath
    ) throws -> Bool {
        while true {
            let count = read(leftFile.number, &left, left.count)
            guard count >= 0 else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
            if count == 0 { return true }
            guard read(rightFile.number, &right, count) == count else { return false }
            guard left[..<count] == right[..<count] else { return false }
        }
    }
}
