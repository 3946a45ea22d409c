// Where segments are kept: the one way to list, make, read, write and remove them.

package import ArchiveFormat
package import SystemPackage

/// The place of an archive's segments.
///
/// A segment's name is its path below that place. `LocalSegments` is a directory of files; nothing outside of it knows that
/// segments are files.
package protocol SegmentStore: Sendable {
    /// Makes the place for the segments of a new archive.
    func prepare() throws(StorageError)

    /// What is there.
    func list() throws(StorageError) -> SegmentListing

    /// How messages call the segment `name`.
    func path(of name: String) -> FilePath

    /// The length of a segment in bytes; nil where that cannot be told.
    func length(of name: String) -> Int?

    /// Opens a segment.
    ///
    /// - Parameter writable: whether blocks will be appended.
    /// - Throws: `StorageError`, of the code `damaged` where there is no such segment.
    func open(_ name: String, writable: Bool) throws(StorageError) -> any SegmentBytes

    /// Makes a segment that holds `header`, durable and locked; under its name it is a segment from its first moment.
    ///
    /// - Returns: nil where another process has taken it for one left behind.
    func create(_ name: SegmentName, _ header: SegmentHeader) throws(StorageError) -> (any SegmentBytes)?

    /// Removes a segment, durably, if it is there.
    ///
    /// - Parameter pause: called between small steps, where the space is to be given back in such.
    func remove(_ name: String, pausing pause: (() throws(StorageError) -> Void)?) throws(StorageError)

    /// Removes a segment that was begun and never came to be, unless its writer is at work.
    func removeUnfinished(_ name: String)
}

/// The bytes of an open segment.
///
/// Reads may come from any thread; writes from one at a time.
package protocol SegmentBytes: Sendable {
    /// How messages call the segment.
    var path: FilePath { get }

    func length() throws(StorageError) -> Int

    /// Whether the segment was removed since it was opened.
    var isRemoved: Bool { get }

    /// Whether the segment's name still leads to these bytes.
    func isInPlace() throws(StorageError) -> Bool

    /// Tries to become the only writer, for as long as this value lives.
    ///
    /// - Returns: false where another is.
    func tryLock() throws(StorageError) -> Bool

    /// Fills `buffer` with what stands at `offset`.
    ///
    /// - Returns: the number of bytes read, fewer only at the segment's end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int

    /// Where the next bytes at `offset` or behind it are that are no hole; nil where there are none below `end`.
    func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>?

    /// Writes `bytes` at `offset`, all of them.
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError)

    func truncate(to length: Int) throws(StorageError)

    /// Waits until what was written is durable.
    func synchronize() throws(StorageError)

    /// Has a part of what was written begin to become durable, without waiting for it.
    func beginWriting(_ range: Range<Int>)
}
