// Which file systems tell all their changes.

internal import CLinux
internal import FileIO

/// What a file system's magic number means for watching it (statfs(2)).
enum FileSystemKind {
    /// Tells every change made on this machine, and there are no others.
    case local
    /// Changes made on another machine, or by a server, are not told.
    case remote
    /// Not files but the kernel's state.
    case kernel

    init(of directory: borrowing Descriptor) {
        switch clinux_file_system_magic(directory.number) {
        case Magic.proc, Magic.sysfs: self = .kernel
        case Magic.nfs, Magic.smb, Magic.cifs, Magic.smb2, Magic.fuse, Magic.plan9, Magic.ceph, Magic.afs:
            self = .remote
        default: self = .local
        }
    }

    private enum Magic {
        static let proc: Int64 = 0x9fa0
        static let sysfs: Int64 = 0x6265_6572
        static let nfs: Int64 = 0x6969
        static let smb: Int64 = 0x517b
        static let cifs: Int64 = 0xff53_4d42
        static let smb2: Int64 = 0xfe53_4d42
        static let fuse: Int64 = 0x6573_5546
        static let plan9: Int64 = 0x0102_1997
        static let ceph: Int64 = 0x00c3_6400
        static let afs: Int64 = 0x5346_414f
    }
}
