// The names in one directory, sorted, in one shared buffer.

/// One name in a directory.
package struct DirectoryItem: Sendable {
    fileprivate let names: [UInt8]
    fileprivate let place: DirectoryListing.Place

    /// The name's bytes; never `.` or `..`.
    package var name: [UInt8] { Array(bytes) }

    /// The name's bytes, not copied.
    package var bytes: ArraySlice<UInt8> { names[place.range] }

    /// The kind, if the file system reports it with the name.
    package var kind: FileKind? { place.kind }

    package var inode: UInt64 { place.inode }
}

/// The names in a directory, in walk order.
///
/// A walk reads millions of names, so no name has an allocation of its own.
package struct DirectoryListing: RandomAccessCollection, Sendable {
    /// The position of a name in `names`, with its inode and kind.
    fileprivate struct Place: Sendable {
        let start: Int
        let count: UInt16
        /// The first eight bytes of the name as a number, which decides most comparisons.
        let beginning: UInt64
        let inode: UInt64
        let kind: FileKind?

        var range: Range<Int> { start..<(start + Int(count)) }
    }

    /// All names, each followed by a zero byte.
    private var names: [UInt8] = []
    private var places: [Place] = []

    package init() {}

    package var startIndex: Int { 0 }
    package var endIndex: Int { places.count }
    package subscript(index: Int) -> DirectoryItem { DirectoryItem(names: names, place: places[index]) }

    /// The kind of the record at `index`, if the file system reports it.
    package func kind(at index: Int) -> FileKind? { places[index].kind }

    /// Appends the name of the record at `index` to `path`.
    package func appendName(at index: Int, to path: inout [UInt8]) {
        names.withUnsafeBufferPointer { path += $0[places[index].range] }
    }

    /// The current status of the object at `index`; symbolic links are not followed.
    ///
    /// - Parameter directory: the directory that was read.
    /// - Returns: nil if the object no longer exists.
    /// - Throws: `FileError` if the status cannot be read for any other reason.
    package func status(
        at index: Int, in directory: borrowing Descriptor, path: @autoclosure () -> RelativePath = .root
    ) throws(FileError) -> FileStatus? {
        let start = places[index].start
        return try names.withUnsafeBufferPointer { names throws(FileError) in
            // The buffer holds at least this name, so it has an address.
            guard let base = names.baseAddress else { return nil }
            let name = UnsafeRawPointer(base + start).assumingMemoryBound(to: CChar.self)
            return try FileStatus.read(terminated: name, in: directory, path: path())
        }
    }

    // MARK: Reading

    /// Appends a name, unsorted.
    mutating func append(_ name: Slice<UnsafeRawBufferPointer>, kind: FileKind?, inode: UInt64) {
        let start = names.count
        names += name
        names.append(0)
        var beginning: UInt64 = 0
        for byte in name.prefix(8) { beginning = beginning << 8 | UInt64(byte) }
        beginning <<= 8 * UInt64(8 - Swift.min(8, name.count))
        places.append(
            Place(
                start: start, count: UInt16(clamping: name.count), beginning: beginning, inode: inode, kind: kind))
    }

    /// Sorts the names in walk order, which for single names is byte order.
    mutating func sort() {
        names.withUnsafeBufferPointer { names in
            places.sort { left, right in
                if left.beginning != right.beginning { return left.beginning < right.beginning }
                return names[left.range].lexicographicallyPrecedes(names[right.range])
            }
        }
    }
}
