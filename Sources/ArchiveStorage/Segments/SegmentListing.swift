// What a place of segments holds: the segments, and what has no place there.

/// Names of what is where segments are kept.
package struct SegmentListing: Sendable, Hashable {
    /// Segments, oldest first.
    package var segments: [String] = []
    /// Files whose names are not those of segments.
    package var strangers: [String] = []
    /// Segments that were begun and never came to be, unless their writers are about to finish them.
    package var unfinished: [String] = []

    package init() {}
}
