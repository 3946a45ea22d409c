// A list of the files in a segment store: segments, unfinished segments and foreign files.

package import ArchiveFormat

/// The names of all files in a segment store.
package struct SegmentListing: Sendable, Hashable {
    /// Segments, oldest first.
    package var segments: [String] = []
    /// Files whose names are not segment names.
    package var strangers: [String] = []
    /// Segments whose creation was not finished; a writer may be about to finish it.
    package var unfinished: [String] = []
    /// The segments that the store has noted when they were begun, without those in `segments`.
    package var begun: [SegmentName] = []
    /// Segments in `segments` that the store has not noted, as after its disk was full.
    package var unnoted: [String] = []

    package init() {}
}
