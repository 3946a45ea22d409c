// A file whose beginning is mapped into memory.

internal import Glibc

/// Pages of a file that can be written without a system call.
struct MappedFile {
    private let descriptor: CInt
    private let pages: UnsafeMutableRawBufferPointer

    /// Maps the first `length` bytes of the file at `path`, which is created if it is missing; nil if that fails.
    init?(_ path: String, length: Int) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        if descriptor < 0 { return nil }
        let isLongEnough = lseek(descriptor, 0, SEEK_END) >= length || ftruncate(descriptor, length) == 0
        let start = isLongEnough ? mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED
        guard let start, start != MAP_FAILED else {
            close(descriptor)
            return nil
        }
        pages = UnsafeMutableRawBufferPointer(start: start, count: length)
    }

    func store(_ byte: UInt8, at offset: Int) { pages[offset] = byte }

    /// Unmaps and closes the file.
    ///
    /// - Parameter touching: whether to set the file's times to now.
    func release(touching: Bool) {
        munmap(pages.baseAddress, pages.count)
        if touching { futimens(descriptor, nil) }
        close(descriptor)
    }
}
