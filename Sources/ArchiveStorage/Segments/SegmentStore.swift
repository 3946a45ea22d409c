// The interfaces to stored segments: a source lists and reads them, a store also creates, writes and removes them.

package import ArchiveFormat
package import SystemPackage

/// A place that segments can be read from.
///
/// A segment's name is its path in the source. `LocalSegments` is a directory of files; no other code assumes that
/// segments are files.
package protocol SegmentSource: Sendable {
    /// Whether reads may wait for a network: several at the same time take no longer than one.
    var isRemote: Bool { get }

    /// Lists the files in the source.
    func list() throws(StorageError) -> SegmentListing

    /// The name of the segment `name` in messages.
    func path(of name: String) -> FilePath

    /// The length of a segment in bytes; nil if it cannot be determined.
    func length(of name: String) -> Int?

    /// Opens a segment for reading.
    ///
    /// - Throws: `StorageError` with the code `damaged` if there is no such segment.
    func open(_ name: String) throws(StorageError) -> any SegmentReading
}

extension SegmentSource {
    package var isRemote: Bool { false }
}

/// A place that segments are written to, and read from.
package protocol SegmentStore: SegmentSource {
    /// Prepares the store for a new archive.
    func prepare() throws(StorageError)

    /// Opens a segment to append to it.
    ///
    /// - Throws: `StorageError` with the code `damaged` if there is no such segment, and `readOnly` if it must not be
    ///   changed.
    func openToWrite(_ name: String) throws(StorageError) -> any SegmentBytes

    /// Creates a segment that holds `bytes`, durable and locked; its name appears only when it is complete.
    ///
    /// The store also notes the name elsewhere (`SegmentListing.begun`), so that the segment is missed if it is lost.
    ///
    /// - Returns: nil if another process removed it as left behind.
    func create(_ name: SegmentName, _ bytes: [UInt8]) throws(StorageError) -> (any SegmentBytes)?

    /// Notes names of segments that exist (`SegmentListing.begun`), durably if possible.
    func note(begun names: [SegmentName])

    /// Removes a segment, durably, if it exists.
    ///
    /// - Parameter pause: called between small steps; nil to free the space in one step.
    func remove(_ name: String, pausing pause: (() throws(StorageError) -> Void)?) throws(StorageError)

    /// Removes a segment whose creation was not finished, unless its writer is running.
    func removeUnfinished(_ name: String)

    /// The bytes that this process can still write; nil if it cannot be determined.
    func freeBytes() -> Int?

    /// The size of the whole file system; nil if it cannot be determined.
    func totalBytes() -> Int?
}

/// The bytes of a segment that is open for reading.
///
/// Reads are allowed from any thread.
package protocol SegmentReading: Sendable {
    /// The segment's name in messages.
    var path: FilePath { get }

    func length() throws(StorageError) -> Int

    /// Whether the segment was removed since it was opened.
    var isRemoved: Bool { get }

    /// Fills `buffer` with the bytes at `offset`.
    ///
    /// - Returns: the number of bytes read, fewer only at the segment's end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int

    /// Whether the bytes in `range`, at least one, can be read without waiting for a network.
    func isNear(_ range: Range<Int>) -> Bool

    /// The next range at or after `offset` that is not a hole; nil if there is none below `end`.
    func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>?
}

extension SegmentReading {
    package func isNear(_ range: Range<Int>) -> Bool { true }
}

/// The bytes of a segment that is open for writing.
///
/// Reads are allowed from any thread, writes from one at a time.
package protocol SegmentBytes: SegmentReading {
    /// Whether the segment's name still leads to these bytes.
    func isInPlace() throws(StorageError) -> Bool

    /// Tries to become the only writer, for as long as this value lives.
    ///
    /// - Returns: false if there is another writer.
    func tryLock() throws(StorageError) -> Bool

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError)

    func truncate(to length: Int) throws(StorageError)

    /// Waits until everything written is durable.
    func synchronize() throws(StorageError)

    /// Starts writing a range to the disk, without waiting for it.
    func beginWriting(_ range: Range<Int>)
}
