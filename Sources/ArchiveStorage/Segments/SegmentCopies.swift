// Several files with one segment id: a backup was copied into the archive. One of them is read.

internal import ArchiveFormat

/// The choice of the files that are read, from all segment files of an archive.
///
/// Of several files with one id the longest undamaged one is read. The others are left alone, and nothing is appended
/// to or dropped from any of them: dropping a segment drops its id, and so all files that have it.
struct SegmentCopies {
    /// A file that is not read.
    struct Unread {
        let path: String
        let id: SegmentID
        /// The file with the same id that is read.
        let chosen: String
    }

    /// The files that are read, in the order in which they were listed.
    private(set) var chosen: [String] = []
    private(set) var unread: [Unread] = []

    private let store: ArchiveStore
    private let known: [String: ListedSegment]

    /// - Parameters:
    ///   - paths: all segment files.
    ///   - known: the segments in the catalogue, by their paths.
    init(among paths: [String], known: [String: ListedSegment], of store: ArchiveStore) throws(StorageError) {
        self.store = store
        self.known = known
        var files: [SegmentID: [String]] = [:]
        for path in paths {
            if let id = try id(of: path) { files[id, default: []].append(path) }
        }
        var dropped: Set<String> = []
        for (id, paths) in files where paths.count > 1 {
            let best = try best(of: paths)
            for path in paths where path != best {
                unread.append(Unread(path: path, id: id, chosen: best))
                dropped.insert(path)
            }
        }
        unread.sort { $0.path < $1.path }
        chosen = paths.filter { !dropped.contains($0) }
    }

    /// The id of a segment of this archive; nil if its header cannot be read or it was dropped.
    private func id(of path: String) throws(StorageError) -> SegmentID? {
        if let name = known[path]?.name { return name }
        do throws(StorageError) {
            let header = try Segment(store.segments.open(path)).readHeader()
            guard header.archive == store.manifest.id, try !store.catalogue.isDropped(header.segment) else {
                return nil
            }
            return header.segment
        } catch {
            // The scan of the file reports the error.
            if error.path == store.layout.catalogue { throw error }
            return nil
        }
    }

    /// How much of a file can be read.
    private struct Measure: Comparable {
        let isUndamaged: Bool
        let length: Int
        let isKnown: Bool
        let isAtItsPlace: Bool

        static func < (one: Measure, other: Measure) -> Bool { one.ranks.lexicographicallyPrecedes(other.ranks) }

        private var ranks: [Int] { [isUndamaged ? 1 : 0, length, isKnown ? 1 : 0, isAtItsPlace ? 1 : 0] }
    }

    private func best(of paths: [String]) throws(StorageError) -> String {
        if let current = try current(among: paths) { return current }
        var best = paths[0]
        var most = try measure(best)
        for path in paths.dropFirst() {
            let measure = try measure(path)
            if measure > most { (best, most) = (path, measure) }
        }
        return best
    }

    /// The file that the catalogue has, if no other can be better or a process is writing to it.
    private func current(among paths: [String]) throws(StorageError) -> String? {
        guard let current = paths.first(where: { known[$0] != nil }) else { return nil }
        if isBeingWritten(current) { return current }
        let length = store.segments.length(of: current) ?? 0
        let isLongest = paths.allSatisfy { store.segments.length(of: $0) ?? 0 <= length }
        guard isLongest, length >= known[current]?.indexedLength ?? 0,
            try !store.catalogue.isDamaged(segmentAt: current)
        else { return nil }
        return current
    }

    private func isBeingWritten(_ path: String) -> Bool {
        guard let bytes = try? store.writable().openToWrite(path) else { return false }
        return (try? bytes.tryLock()) == false
    }

    private func measure(_ path: String) throws(StorageError) -> Measure {
        let isKnown = known[path] != nil
        let isAtItsPlace = path.split(separator: "/").last.flatMap { SegmentName(fileName: String($0)) }?.path == path
        do throws(StorageError) {
            let file = Segment(try store.segments.open(path), of: store.manifest.id)
            let scan = try SegmentScan(
                of: file, from: SegmentHeader.byteCount, verifyingPayloads: true, passingDamage: true)
            return Measure(
                isUndamaged: scan.damage.isEmpty, length: scan.length, isKnown: isKnown, isAtItsPlace: isAtItsPlace)
        } catch {
            guard error.code == .damaged || error.code == .readOnly || error.code == .newerFormat else { throw error }
            return Measure(isUndamaged: false, length: 0, isKnown: isKnown, isAtItsPlace: isAtItsPlace)
        }
    }
}
