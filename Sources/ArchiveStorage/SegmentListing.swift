// The files below an archive's `segments`: the segments, and what has no place there.

internal import ArchiveFormat
internal import FileIO
internal import Glibc
internal import SystemPackage

/// What is below `segments`, by paths relative to it.
struct SegmentListing {
    /// Segments by their names, oldest first.
    private(set) var segments: [String] = []
    /// Files whose names are not those of segments.
    private(set) var strangers: [String] = []
    /// Segments that were begun and never came to be, unless their writers are about to finish them.
    private(set) var unfinished: [String] = []

    init(_ layout: ArchiveLayout) throws(StorageError) {
        var folders = [""]
        while let folder = folders.popLast() {
            for record in try SegmentListing.names(in: folder.isEmpty ? layout.segments : layout.segment(folder)) {
                let name = String(decoding: record.name, as: UTF8.self)
                let path = folder.isEmpty ? name : folder + "/" + name
                if SegmentName(fileName: name) != nil {
                    segments.append(path)
                } else if record.kind == .directory {
                    folders.append(path)
                } else if TemporaryFile.isTemporaryName(record.name) {
                    unfinished.append(path)
                } else {
                    strangers.append(path)
                }
            }
        }
        segments.sort()
        strangers.sort()
    }

    /// The names in the directory at `path`; none where there is no such directory.
    private static func names(in path: FilePath) throws(StorageError) -> DirectoryRecords {
        do {
            return try DirectoryReader.list(Descriptor.open(path, O_RDONLY | O_DIRECTORY), path: .root)
        } catch  where error.code == .noSuchFileOrDirectory {
            return DirectoryRecords()
        } catch {
            throw StorageError(FileError(error.operation, path, error.code))
        }
    }
}
