// Objects as files below a directory: a USB disk, NFS, CephFS.

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage
internal import Threading

/// Objects as files below a directory, which must exist: a missing mount is not an empty store.
///
/// An object is written under a temporary name, made durable, and then gets its name by a call that replaces nothing
/// (renameat2(2) with RENAME_NOREPLACE, or link(2)). No symbolic link below the directory is followed. What is created
/// belongs to the directory's owner, as in an archive.
package final class DirectoryStore: ObjectStore {
    package let address: String
    private let directory: FilePath
    private let closing = StoreClosing()
    /// The directories in which the temporary files of killed processes have been removed.
    private let cleaned = Locked(Set<RelativePath>())

    /// Makes a store of an absolute path, without a system call.
    package init(path: String) {
        directory = FilePath(path)
        address = "file://\(path)"
    }

    package func put(_ name: ObjectName, from source: any ObjectSource) throws(ObjectStoreError) -> PutOutcome {
        let operation = naming("write", name, "to")
        return try reporting(operation) {
            let root = try openRoot(operation)
            let path = name.path
            // An existing object is not written again.
            if try FileStatus.read(path, beneath: root) != nil { return .exists }
            let parent = path.parent ?? .root
            let place = EnclosedPath(directory).appending(name.text)
            try place.parent.createDirectory(durable: true)
            let folder = try root.open(beneath: parent, O_RDONLY | O_DIRECTORY)
            try removeLeftBehind(in: folder, parent)
            let temporary = try place.temporaryFile(in: folder)
            var position: UInt64 = 0
            try source.forEachPiece(operation) { (piece) throws(ObjectStoreError) in
                try closing.check(operation)
                do throws(FileError) { try temporary.file.write(piece, at: position, path: FilePath(path)) } catch {
                    throw ObjectStoreError(error.below(directory), operation)
                }
                position += UInt64(piece.count)
            }
            try temporary.file.synchronize(path: FilePath(path))
            do throws(FileError) { try temporary.rename(toNew: CName(path.name)) } catch {
                guard error.code == .fileExists else { throw error }
                return .exists
            }
            try folder.synchronize(path: FilePath(parent))
            return .created
        }
    }

    package func get(_ name: ObjectName, _ range: Range<UInt64>?) throws(ObjectStoreError) -> [UInt8] {
        let operation = naming("read", name, "from")
        return try reporting(operation) {
            let root = try openRoot(operation)
            let path = name.path
            guard let status = try FileStatus.read(path, beneath: root), status.kind == .file else {
                throw ObjectStoreError(.noSuchObject, operation)
            }
            let file = try root.open(beneath: path, O_RDONLY | O_NONBLOCK)
            let start = min(range?.lowerBound ?? 0, status.size)
            let end = max(start, min(range?.upperBound ?? status.size, status.size))
            guard end - start <= ObjectLimit.bytesInMemory else { throw ObjectStoreError(.tooLarge, operation) }
            var bytes = [UInt8](repeating: 0, count: Int(end - start))
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: start, path: FilePath(path)) }
            bytes.removeLast(bytes.count - count)
            return bytes
        }
    }

    package func length(of name: ObjectName) throws(ObjectStoreError) -> UInt64? {
        let operation = naming("find", name)
        return try reporting(operation) {
            let root = try openRoot(operation)
            guard let status = try FileStatus.read(name.path, beneath: root), status.kind == .file else { return nil }
            return status.size
        }
    }

    package func list(_ prefix: String, _ body: (ObjectEntry) throws -> Void) throws {
        let operation = namingList(prefix)
        let root = try reporting(operation) { try openRoot(operation) }
        try ObjectTree.list(
            prefix,
            children: { (path) throws(ObjectStoreError) in
                try reporting(operation) { try children(of: RelativePath(unchecked: Array(path.utf8)), in: root) }
            }, body)
    }

    private func children(
        of path: RelativePath, in root: borrowing Descriptor
    ) throws(FileError) -> [ObjectTreeItem] {
        let folder: Descriptor
        do { folder = try root.open(beneath: path, O_RDONLY | O_DIRECTORY) } catch {
            // Another process has removed it.
            if error.code == .noSuchFileOrDirectory, !path.isRoot { return [] }
            throw error
        }
        var items: [ObjectTreeItem] = []
        for item in try DirectoryReader.list(folder, path: path) {
            guard let name = String(validating: item.bytes, as: UTF8.self) else { continue }
            if item.kind == .directory {
                items.append(ObjectTreeItem(name: name, kind: .directory, length: 0))
            } else if item.kind == .file || item.kind == nil,
                let status = try FileStatus.read(CName(item.bytes), in: folder, path: path)
            {
                if status.kind == .file { items.append(ObjectTreeItem(name: name, kind: .object, length: status.size)) }
                if status.kind == .directory { items.append(ObjectTreeItem(name: name, kind: .directory, length: 0)) }
            }
        }
        return items
    }

    package func delete(_ name: ObjectName) throws(ObjectStoreError) {
        let operation = naming("delete", name, "from")
        try reporting(operation) {
            let root = try openRoot(operation)
            let path = name.path
            guard let status = try FileStatus.read(path, beneath: root), status.kind == .file else { return }
            let parent = path.parent ?? .root
            let folder = try root.open(beneath: parent, O_RDONLY | O_DIRECTORY)
            do throws(FileError) { try folder.removeFile(CName(path.name), path: FilePath(path)) } catch {
                if error.code != .noSuchFileOrDirectory { throw error }
            }
            try folder.synchronize(path: FilePath(parent))
        }
    }

    package func close() { closing.close() }

    // MARK: Directories

    private func openRoot(_ operation: String) throws -> Descriptor {
        do throws(FileError) { return try Descriptor.open(directory, O_RDONLY | O_DIRECTORY) } catch {
            guard error.code == .noSuchFileOrDirectory else { throw error }
            throw ObjectStoreError(.noSuchBucket, operation, directory.string)
        }
    }

    /// Removes the temporary files of killed processes, once for each directory.
    private func removeLeftBehind(in folder: borrowing Descriptor, _ path: RelativePath) throws(FileError) {
        guard cleaned.withLock({ $0.insert(path).inserted }) else { return }
        let listed = try folder.open(CName(".".utf8), O_RDONLY | O_DIRECTORY, path: path)
        for item in try DirectoryReader.list(listed, path: path) where TemporaryFile.isTemporaryName(item.bytes) {
            _ = try? TemporaryFile.removeLeftBehind(CName(item.bytes), in: folder, path: FilePath(path))
        }
    }

    private func reporting<Result: ~Copyable>(
        _ operation: String, _ body: () throws -> Result
    ) throws(ObjectStoreError) -> Result {
        try closing.check(operation)
        do { return try body() } catch let error as ObjectStoreError { throw error } catch let error as FileError {
            throw ObjectStoreError(error.below(directory), operation)
        } catch { throw ObjectStoreError(.failed, operation, "\(error)") }
    }
}

extension ObjectName {
    /// The path of its file.
    fileprivate var path: RelativePath { RelativePath(unchecked: Array(text.utf8)) }
}
