// Sets the owner, attributes, permissions and time of restored objects, in an order in which no step undoes another.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
internal import Roots
internal import SnapshotTree
internal import SystemPackage

/// Sets metadata, and counts what the process is not allowed to set.
struct MetadataWriter: Sendable {
    private let isRoot = CurrentProcess.isRoot
    /// Maps owners by number, or by name if the snapshot comes from another machine.
    private let owners: OwnerMapping
    private let store: ArchiveStore
    /// Objects whose owner or group could not be set.
    private(set) var foreignOwners = 0
    /// The first remarks on single objects for the user.
    private(set) var remarks: [String] = []
    /// The number of all remarks.
    private(set) var remarkCount = 0
    /// Objects whose permissions or time could not be set, or whose attributes could not be read.
    private(set) var problems: [RestoreProblem] = []

    private static let remarksLimit = 20

    init(_ owners: OwnerMapping, from store: ArchiveStore) {
        self.owners = owners
        self.store = store
    }

    /// Adds the counts and problems of another writer.
    mutating func add(_ other: MetadataWriter) {
        foreignOwners += other.foreignOwners
        remarkCount += other.remarkCount
        remarks += other.remarks.prefix(MetadataWriter.remarksLimit - remarks.count)
        problems += other.problems
    }

    /// Sets the metadata of `entry` on an open file or directory.
    ///
    /// Nothing is set that is so already: each change of an inode is written to the journal of the file system.
    mutating func apply(_ entry: Entry, to file: borrowing Descriptor, path: RelativePath) {
        let present = try? FileStatus.read(file, path: path)
        let (owner, group) = owners.numbers(of: entry)
        let hasOwner = present?.owner == owner && present?.group == group
        let isOwned =
            hasOwner
            || attemptOwner { () throws(FileError) in
                try file.setOwner(owner, group: group, path: FilePath(path))
            }
        let attributes = attributes(of: entry, path)
        attemptAttributes { () throws(FileError) in
            try ExtendedAttributes.replace(of: file, with: attributes, path: FilePath(path))
        }
        let permissions = permissions(entry, isOwned, path)
        // Another owner clears bits, and an access control list changes them.
        let hasPermissions = hasOwner && entry.attributes.isEmpty && present?.permissions == permissions
        attempt(path) { () throws(FileError) in
            if !hasPermissions { try file.setPermissions(permissions, path: FilePath(path)) }
            try file.setModified(entry.modified, path: FilePath(path))
        }
    }

    /// Sets the metadata of `entry` on the object `name` in `directory`; symbolic links are not followed.
    mutating func apply(
        _ entry: Entry, to name: CName, in directory: borrowing Descriptor, path: RelativePath
    ) {
        let (owner, group) = owners.numbers(of: entry)
        let isOwned = attemptOwner { () throws(FileError) in
            try directory.setOwner(owner, group: group, of: name, path: FilePath(path))
        }
        let attributes = attributes(of: entry, path)
        attemptAttributes { () throws(FileError) in
            try ExtendedAttributes.replace(of: name, in: directory, with: attributes, path: FilePath(path))
        }
        let permissions = permissions(entry, isOwned, path)
        attempt(path) { () throws(FileError) in
            // Symbolic links have no permissions of their own.
            if entry.kind != .symbolicLink {
                try directory.setPermissions(permissions, of: name, path: FilePath(path))
            }
            try directory.setModified(entry.modified, of: name, path: FilePath(path))
        }
    }

    /// The permissions to set: a setuid program whose owner could not be set must not run as the current user.
    private mutating func permissions(_ entry: Entry, _ isOwned: Bool, _ path: RelativePath) -> UInt16 {
        if entry.kind == .directory || entry.kind == .symbolicLink { return entry.permissions }
        let isPrivileged = entry.permissions & 0o6000 != 0
        if !isOwned {
            if isPrivileged { remark("\(path) was restored without its setuid and setgid bits: its owner is not set") }
            return entry.permissions & 0o1777
        }
        if owners.isForeign, isPrivileged {
            remark("\(path) runs as its owner or group (setuid, setgid), as recorded on another machine")
        }
        if owners.isForeign, entry.attributes.contains(where: { $0.name.elementsEqual("security.capability".utf8) }) {
            remark(
                isRoot
                    ? "\(path) runs with the capabilities that were recorded on another machine"
                    : "\(path) was restored without its capabilities: only root may set them")
        }
        return entry.permissions
    }

    /// Reads the attributes from the archive; those that cannot be read become problems.
    private mutating func attributes(of entry: Entry, _ path: RelativePath) -> [ExtendedAttribute] {
        var attributes: [ExtendedAttribute] = []
        for attribute in entry.attributes {
            do {
                attributes.append(ExtendedAttribute(name: attribute.name, value: try store.value(of: attribute)))
            } catch {
                let name = String(decoding: attribute.name, as: UTF8.self)
                let cause = error as? StorageError
                problems.append(
                    RestoreProblem(
                        path, "the attribute \(name) of \(path) cannot be restored: \(cause?.message ?? "\(error)")",
                        remedy: cause?.remedy, isDamage: cause?.code == .damaged))
            }
        }
        return attributes
    }

    private mutating func attemptOwner(_ body: () throws(FileError) -> Void) -> Bool {
        do throws(FileError) {
            try body()
            return true
        } catch {
            foreignOwners += 1
            return false
        }
    }

    private mutating func attemptAttributes(_ body: () throws(FileError) -> [FileError]) {
        do throws(FileError) {
            for failure in try body() { remark(failure.description) }
        } catch {
            remark(error.description)
        }
    }

    private mutating func attempt(_ path: RelativePath, _ body: () throws(FileError) -> Void) {
        do throws(FileError) {
            try body()
        } catch {
            problems.append(RestoreProblem(path, error) ?? RestoreProblem(path, error.description))
        }
    }

    private mutating func remark(_ text: String) {
        remarkCount += 1
        if remarks.count < MetadataWriter.remarksLimit { remarks.append(text) }
    }
}

/// Translates owners and groups between machines.
struct OwnerMapping: Sendable {
    private let ownerNames: [UInt32: String]
    private let groupNames: [UInt32: String]
    /// Whether the snapshot comes from another machine.
    let isForeign: Bool
    private let names = AccountNames()

    /// The mapping for the owners of `snapshot`; nil if nothing is restored.
    init(_ snapshot: Snapshot?) {
        ownerNames = snapshot?.ownerNames ?? [:]
        groupNames = snapshot?.groupNames ?? [:]
        isForeign = snapshot.map { $0.machine != Machine.id } ?? false
    }

    /// Returns the owner and group for `entry` on this machine.
    ///
    /// They are mapped by name if the snapshot comes from another machine and the name exists here, otherwise by
    /// number.
    func numbers(of entry: Entry) -> (owner: UInt32, group: UInt32) {
        guard isForeign else { return (entry.owner, entry.group) }
        let owner = ownerNames[entry.owner].flatMap { names.owner(named: $0) } ?? entry.owner
        let group = groupNames[entry.group].flatMap { names.group(named: $0) } ?? entry.group
        return (owner, group)
    }
}
