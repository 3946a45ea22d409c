// Records which files of a directory are opened, with inotify(7).

import FileIO
import Glibc
import SystemPackage

/// Records every opening of a file in one directory by any process.
final class OpenedFiles {
    private let descriptor: Descriptor

    init(in directory: FilePath) throws {
        let number = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard number >= 0 else { throw SystemFailure("inotify_init1", directory) }
        descriptor = Descriptor(owning: number)
        let watch = directory.withPlatformString { inotify_add_watch(number, $0, UInt32(IN_OPEN)) }
        guard watch >= 0 else { throw SystemFailure("inotify_add_watch", directory) }
    }

    /// The names of the files opened since the last call, in order, without the directory itself.
    func take() -> [String] {
        var names: [String] = []
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
            while true {
                let length = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
                guard length > 0 else { return }
                var offset = 0
                while offset < length {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let start = offset + MemoryLayout<inotify_event>.size
                    let name = buffer[start..<(start + Int(event.len))].prefix { $0 != 0 }
                    let isDirectory = event.mask & UInt32(IN_ISDIR) != 0
                    if !isDirectory, !name.isEmpty { names.append(String(decoding: name, as: UTF8.self)) }
                    offset = start + Int(event.len)
                }
            }
        }
        // The kernel merges equal consecutive events only (inotify(7)).
        return names
    }
}
