// The system calls of extended attributes, for open files and for names.

internal import CLinux
internal import SystemPackage

/// The object that the attributes belong to.
enum AttributeTarget {
    case openFile(CInt)
    /// A path that is not followed if it is a symbolic link.
    case name(CName)

    /// The names of all attributes visible to the process.
    func names() throws(Errno) -> [[UInt8]] {
        let list = try Self.fetch { buffer, count in
            let buffer = buffer?.assumingMemoryBound(to: CChar.self)
            return switch self {
            case .openFile(let number): clinux_flistxattr(number, buffer, count)
            case .name(let path): path.withPointer { clinux_llistxattr($0, buffer, count) }
            }
        }
        return list.split(separator: 0).map { Array($0) }
    }

    func value(of name: [UInt8]) throws(Errno) -> [UInt8] {
        let name = CName(name)
        return try Self.fetch { buffer, count in
            name.withPointer { name in
                switch self {
                case .openFile(let number): clinux_fgetxattr(number, name, buffer, count)
                case .name(let path): path.withPointer { clinux_lgetxattr($0, name, buffer, count) }
                }
            }
        }
    }

    func set(_ name: [UInt8], _ value: [UInt8]) throws(Errno) {
        let result = CName(name).withPointer { name in
            value.withUnsafeBytes { value in
                switch self {
                case .openFile(let number): clinux_fsetxattr(number, name, value.baseAddress, value.count)
                case .name(let path):
                    path.withPointer { clinux_lsetxattr($0, name, value.baseAddress, value.count) }
                }
            }
        }
        if result != 0 { throw .current }
    }

    func remove(_ name: [UInt8]) throws(Errno) {
        let result = CName(name).withPointer { name in
            switch self {
            case .openFile(let number): clinux_fremovexattr(number, name)
            case .name(let path): path.withPointer { clinux_lremovexattr($0, name) }
            }
        }
        if result != 0 { throw .current }
    }

    /// Returns the bytes that a call writes: tries a small stack buffer first, then the largest the kernel can fill.
    private static func fetch(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
        // XATTR_LIST_MAX and XATTR_SIZE_MAX (xattr(7)).
        let largest = 64 * 1024
        for capacity in [1_024, largest] {
            var code: Errno?
            let bytes = withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
                let length = call(buffer.baseAddress, buffer.count)
                if length < 0 { code = .current }
                return length > 0 ? Array(buffer.prefix(length)) : []
            }
            guard let code else { return bytes }
            if code != .outOfRange || capacity == largest { throw code }
        }
        return []
    }
}

extension CName {
    /// The path of this name in an open directory, for system calls without a directory argument (proc_pid_fd(5)).
    func processPath(in directory: borrowing Descriptor) -> CName {
        CName(Array("/proc/self/fd/\(directory.number)/".utf8) + bytes)
    }
}
