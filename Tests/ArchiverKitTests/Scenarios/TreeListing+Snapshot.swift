// Lists a snapshot from its entries, without restoring it.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import FileIO
import Foundation
import Glibc

extension TreeListing {
    /// Lists the entries of `snapshot`, with holes filled.
    init(of snapshot: ListedSnapshot, in archive: Archive) throws {
        var entries: [Entry] = []
        try archive.forEachEntry(in: snapshot) { entry in
            entries.append(entry)
            return true
        }
        objects = [:]
        var names: [UInt64: [String]] = [:]
        for entry in entries {
            let key = TreeListing.key(entry.path)
            objects[key] = try Object(entry, in: archive)
            if let group = entry.linkGroup { names[group, default: []].append(key) }
        }
        for paths in names.values where paths.count > 1 {
            for path in paths { objects[path]?.firstName = paths.min() }
        }
    }

    /// The listing without the times of directories.
    var withoutDirectoryTimes: TreeListing {
        var listing = self
        listing.objects = objects.mapValues { object in
            var timeless = object
            if object.type == S_IFDIR { (timeless.seconds, timeless.nanoseconds) = (0, 0) }
            return timeless
        }
        return listing
    }

    /// The listing with holes filled with zeros: entries do not record where a file system puts holes.
    var withoutHoles: TreeListing {
        var listing = self
        listing.objects = objects.mapValues { object in
            guard object.type == S_IFREG, object.size > 0 else { return object }
            var filled = object
            var content = Data(count: object.size)
            for (range, data) in zip(object.dataRanges, object.data) { content.replaceSubrange(range, with: data) }
            filled.dataRanges = [0..<object.size]
            filled.data = [content]
            return filled
        }
        return listing
    }
}

extension TreeListing.Object {
    fileprivate init(_ entry: Entry, in archive: Archive) throws {
        self.init(
            type: mode_t(entry.kind.modeBits), permissions: mode_t(entry.permissions), owner: entry.owner,
            group: entry.group, seconds: Int(entry.modified.seconds), nanoseconds: Int(entry.modified.nanoseconds))
        device = dev_t(entry.device)
        for attribute in try archive.attributes(of: entry) {
            attributes[String(decoding: attribute.name, as: UTF8.self)] = Data(attribute.value)
        }
        if case .linkTarget(let target) = entry.content { linkTarget = target.map { CChar(bitPattern: $0) } }
        size = Int(entry.size)
        guard size > 0 else { return }
        var content = Data()
        try archive.forEachPiece(of: entry) { piece in
            content.append(contentsOf: piece)
            return true
        }
        dataRanges = [0..<size]
        data = [content]
    }
}
