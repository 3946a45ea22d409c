// Records that break a rule of the format: their bytes are right, but no program can use them.

internal import ArchiveFormat
internal import FileIO
internal import SystemPackage

extension ArchiveStore {
    /// Copies each record that breaks a rule into the archive's `salvage` directory, and forgets it.
    ///
    /// - Returns: a sentence for each.
    func moveBrokenRecords() throws(StorageError) -> [String] {
        var broken: [ChunkID: RecordKind] = [:]
        for segment in try catalogue.segments() {
            let scan = try SegmentScan(
                of: reader.segment(segment.number), from: SegmentHeader.byteCount, verifyingPayloads: false,
                passingDamage: true)
            for found in scan.records where broken[found.id] == nil {
                guard let kind = RecordKind.all.first(where: { $0.kind == found.kind }), try breaksRule(found, kind),
                    try !catalogue.isForgotten(found.id)
                else { continue }
                broken[found.id] = kind
            }
        }
        var moved: [String] = []
        for (id, kind) in broken.sorted(by: { $0.key < $1.key }) {
            let name = "record-\(kind.kind.rawValue)-\(id.hex)"
            let bytes = try read(id)
            let file = layout.salvage.appending(name)
            try storing { () throws(FileError) in try DurableFile.replace(file, contents: bytes) }
            moved.append("\(kind.name(id)) breaks a rule of the format: moved to \(file.path)")
        }
        try forget(Set(broken.keys))
        return moved
    }

    /// Whether a record's bytes can be read but not decoded.
    private func breaksRule(_ found: FoundRecord, _ kind: RecordKind) throws(StorageError) -> Bool {
        do throws(StorageError) { _ = try kind.read(self, found) } catch {
            guard error.code == .damaged, error.path != layout.catalogue else { throw error }
            return (try? read(found.id)) != nil
        }
        return false
    }
}
