// A root's identity: its path and its machine.

public import ArchiveFormat
public import ArchiveStorage
internal import FileIO
public import SystemPackage

/// A directory that an archive has snapshots of.
public struct ArchivedRoot: Sendable, Hashable {
    /// The directory's absolute path.
    public let path: FilePath
    /// The machine that the directory is on.
    public let machine: MachineID
    /// The machine's last known name; not part of the root's identity.
    public let host: String

    package init(_ record: ListedRoot) {
        self.init(path: FilePath(bytes: record.path), machine: record.machine, host: record.host)
    }

    package init(path: FilePath, machine: MachineID = .unknown, host: String) {
        self.path = path
        self.machine = machine
        self.host = host
    }

    /// The root at `path` on this machine.
    package init(here path: FilePath) {
        self.init(path: path, machine: Machine.id, host: CurrentProcess.hostName)
    }

    /// Whether it is on the machine that this program runs on.
    public var isHere: Bool { machine == Machine.id }

    public static func == (left: ArchivedRoot, right: ArchivedRoot) -> Bool {
        left.path == right.path && left.machine == right.machine
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(machine)
    }
}

extension ListedSnapshot {
    /// Whether the snapshot belongs to `root`; the only place that compares a snapshot's root.
    package func isOf(_ root: ArchivedRoot) -> Bool {
        rootPath == root.path.bytes && machine == root.machine
    }

    /// The root that the snapshot belongs to.
    public var root: ArchivedRoot { ArchivedRoot(path: FilePath(bytes: rootPath), machine: machine, host: host) }

    /// Whether its root is on this machine.
    package var isOfThisMachine: Bool { machine == Machine.id }
}
