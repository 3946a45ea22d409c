// Segments that leave the local disk, as text and as JSON.

internal import ArchiverKit
internal import FileIO
internal import Replicas

/// Texts about the segments that are only in replicas.
enum EvictionText {
    /// "2.1 GiB in 33 segments left this disk; 19.9 GiB of at most 20.0 GiB are on it".
    static func text(_ result: EvictionResult) -> String {
        let size = "\(ByteCount.text(result.bytes)) in \(Plural.of(result.segments, "segment"))"
        let local = result.places.localBytes
        let here = ByteCount.text(result.isDryRun ? local - min(local, result.bytes) : local) + limit(result.places)
        if result.isDryRun {
            let leaving = result.segments == 0 ? "no segment" : size
            return "\(leaving) would leave this disk; \(here) would be on it"
        }
        return "\(result.segments == 0 ? "no segment leaves" : "\(size) left") this disk; \(here) are on it"
    }

    /// "on this disk: 19.9 GiB of at most 20.0 GiB; 133.0 GiB in 2,100 segments are only in 'disk'"; nil if all is here.
    static func line(_ places: SegmentPlaces) -> String? {
        if places.limit == nil, places.awaySegments == 0 { return nil }
        let here = "on this disk: \(ByteCount.text(places.localBytes))\(limit(places))"
        if places.awaySegments == 0 { return here }
        let names = places.replicas.map { "'\($0)'" }.joined(separator: " or ")
        return
            "\(here); \(ByteCount.text(places.awayBytes)) in \(Plural.of(places.awaySegments, "segment")) are only in \(names)"
    }

    private static func limit(_ places: SegmentPlaces) -> String {
        places.limit.map { " of at most \(ByteCount.text($0))" } ?? ""
    }
}

/// The output of `keep --local-size --dry-run --json`.
struct EvictionJSON: Encodable {
    let result: EvictionResult?
    let isDryRun: Bool

    init(_ result: EvictionResult?, isDryRun: Bool) { (self.result, self.isDryRun) = (result, isDryRun) }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(isDryRun, forKey: .dryRun)
        try encode(into: &object)
        try object.encode(result?.places.localBytes, forKey: .usedBytes)
    }

    /// Encodes the fields that `prune` has, too.
    func encode(into object: inout KeyedEncodingContainer<JSONKey>) throws {
        try object.encode(result?.segments ?? 0, forKey: .evictedSegments)
        try object.encode(result?.bytes ?? 0, forKey: .evictedBytes)
        try object.encode(result?.problems ?? [], forKey: .evictionCauses)
    }
}
