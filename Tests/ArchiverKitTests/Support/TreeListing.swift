// The oracle: everything in a directory tree that a restore must reproduce, read with plain system calls.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing

/// The objects in a directory, by path; the directory itself has the empty path.
struct TreeListing: Sendable {
    /// Everything about one file-system object that a restore must reproduce.
    struct Object: Hashable, Sendable {
        var type: mode_t
        var permissions: mode_t
        var owner: uid_t
        var group: gid_t
        var seconds: Int
        var nanoseconds: Int
        /// A file's length and the ranges of its data; the rest are holes.
        var size = 0
        var dataRanges: [Range<Int>] = []
        var data: [Data] = []
        var linkTarget: [CChar] = []
        var device: dev_t = 0
        var attributes: [String: Data] = [:]
        /// The first path of the same inode, if it has several names in the tree.
        var firstName: String?
    }

    /// The objects by path; the bytes of paths become Latin 1 characters, so that different paths have different keys.
    var objects: [String: Object] = [:]

    init(of directory: FilePath) throws {
        var reader = Reader()
        try reader.read(directory)
        objects = reader.objects
    }

    /// The listing without the objects of one type, such as S_IFSOCK.
    func without(_ type: mode_t) -> TreeListing {
        var listing = self
        listing.objects = objects.filter { $0.value.type != type }
        return listing
    }

    /// The object at `path` and everything below it, with paths relative to it.
    func below(_ path: String) -> TreeListing {
        var listing = self
        listing.objects = [:]
        for (key, object) in objects where key == path || key.hasPrefix(path + "/") {
            listing.objects[String(key.dropFirst(path.count + 1))] = object
        }
        return listing
    }

    /// Paths at which the listings differ, sorted, with a description of each difference.
    func differences(from other: TreeListing) -> [(path: String, what: String)] {
        Set(objects.keys).union(other.objects.keys).sorted().compactMap { path in
            switch (objects[path], other.objects[path]) {
            case (let found?, let wanted?): found == wanted ? nil : (path, found.difference(from: wanted))
            case (nil, _): (path, "is missing")
            case (_, nil): (path, "should not be there")
            }
        }
    }

    /// Records an issue with the first differences from `wanted`, if there are any.
    func expect(
        equals wanted: TreeListing, _ comment: @autoclosure () -> String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = differences(from: wanted)
        if found.isEmpty { return }
        let shown = found.prefix(5).map { "'\($0.path.suffix(80))' \($0.what)" }.joined(separator: "; ")
        Issue.record("\(comment()): \(found.count) paths differ: \(shown)", sourceLocation: sourceLocation)
    }
}

extension TreeListing.Object {
    fileprivate func difference(from wanted: TreeListing.Object) -> String {
        var parts: [String] = []
        func compare<Value: Equatable>(_ name: String, _ found: Value, _ wanted: Value) {
            if found != wanted { parts.append("\(name) \(found) instead of \(wanted)") }
        }
        compare("type", String(type, radix: 8), String(wanted.type, radix: 8))
        compare("permissions", String(permissions, radix: 8), String(wanted.permissions, radix: 8))
        compare("owner", owner, wanted.owner)
        compare("group", group, wanted.group)
        compare("time", "\(seconds).\(nanoseconds)", "\(wanted.seconds).\(wanted.nanoseconds)")
        compare("size", size, wanted.size)
        compare("data ranges", dataRanges, wanted.dataRanges)
        if data != wanted.data { parts.append("content") }
        if linkTarget != wanted.linkTarget { parts.append("link target") }
        compare("device", device, wanted.device)
        compare("attributes", attributes, wanted.attributes)
        compare("other name", firstName ?? "none", wanted.firstName ?? "none")
        return parts.joined(separator: ", ")
    }
}

extension TreeListing {
    /// Walks a tree by descriptors, so that paths may have any length.
    private struct Reader {
        var objects: [String: Object] = [:]
        private var names: [ino_t: [String]] = [:]

        mutating func read(_ directory: FilePath) throws {
            let opened = open(directory.string, O_RDONLY | O_DIRECTORY)
            guard opened >= 0 else { throw SystemFailure("list", directory) }
            defer { close(opened) }
            try read(".", in: opened, path: "")
            for (_, paths) in names where paths.count > 1 {
                let first = paths.min()
                for path in paths { objects[path]?.firstName = first }
            }
        }

        private mutating func read(_ name: String, in directory: CInt, path: String) throws {
            try read(Array(name.utf8CString), in: directory, path: path)
        }

        private mutating func read(_ name: [CChar], in directory: CInt, path: String) throws {
            var status = stat()
            guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw SystemFailure("stat", FilePath(path))
            }
            let type = status.st_mode & S_IFMT
            var object = Object(
                type: type, permissions: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid,
                seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            object.attributes = Reader.attributes(of: name, in: directory)
            switch type {
            case S_IFREG: try Reader.readContent(of: name, in: directory, Int(status.st_size), &object, path)
            case S_IFLNK: object.linkTarget = try Reader.target(of: name, in: directory, path)
            case S_IFCHR, S_IFBLK: object.device = status.st_rdev
            default: break
            }
            objects[path] = object
            if type == S_IFDIR {
                try readChildren(of: name, in: directory, path)
            } else if status.st_nlink > 1 {
                names[status.st_ino, default: []].append(path)
            }
        }

        private mutating func readChildren(of name: [CChar], in directory: CInt, _ path: String) throws {
            let opened = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            guard opened >= 0, let stream = fdopendir(opened) else { throw SystemFailure("list", FilePath(path)) }
            defer { closedir(stream) }
            while let record = readdir(stream) {
                let bytes = record.pointee.nameBytes
                let latin = String(
                    String.UnicodeScalarView(bytes.dropLast().map { Unicode.Scalar(UInt8(bitPattern: $0)) }))
                if latin == "." || latin == ".." { continue }
                try read(bytes, in: opened, path: path.isEmpty ? latin : path + "/" + latin)
            }
        }

        private static func readContent(
            of name: [CChar], in directory: CInt, _ size: Int, _ object: inout Object, _ path: String
        ) throws {
            object.size = size
            let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | CInt(CLINUX_O_NOATIME))
            guard file >= 0 else { throw SystemFailure("open", FilePath(path)) }
            defer { close(file) }
            var position = 0
            while position < size {
                let start = lseek(file, position, CInt(CLINUX_SEEK_DATA))
                guard start >= 0 else { break }
                let end = min(lseek(file, start, CInt(CLINUX_SEEK_HOLE)), size)
                var data = Data(count: end - start)
                let count = data.withUnsafeMutableBytes { pread(file, $0.baseAddress, end - start, start) }
                guard count == end - start else { throw SystemFailure("read", FilePath(path)) }
                object.dataRanges.append(start..<end)
                object.data.append(data)
                position = end
            }
        }

        private static func target(of name: [CChar], in directory: CInt, _ path: String) throws -> [CChar] {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlinkat(directory, name, &target, target.count)
            guard count >= 0 else { throw SystemFailure("readlink", FilePath(path)) }
            return Array(target[..<count])
        }

        /// User attributes and ACLs; for root, also attributes that only root can see.
        private static func attributes(of name: [CChar], in directory: CInt) -> [String: Data] {
            // A name that is not UTF-8 cannot be part of a Swift string.
            let path = Array("/proc/self/fd/\(directory)/".utf8CString.dropLast()) + name
            var list = [CChar](repeating: 0, count: 64 << 10)
            let length = clinux_llistxattr(path, &list, list.count)
            guard length > 0 else { return [:] }
            var attributes: [String: Data] = [:]
            for name in list[..<length].split(separator: 0) {
                let name = String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                var value = Data(count: 64 << 10)
                let size = value.count
                let count = value.withUnsafeMutableBytes { clinux_lgetxattr(path, name, $0.baseAddress, size) }
                attributes[name] = count >= 0 ? value.prefix(count) : Data("unreadable".utf8)
            }
            return attributes
        }
    }
}
