// Bytes to standard output and standard error: write(2) with a buffer, and a quiet end where nobody reads any more.

internal import FileIO
internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Threading

/// Whoever read our output has gone, as `head` does when it has seen enough.
struct ClosedPipe: Error {}

/// One of the process's standard streams.
final class Output: Sendable {
    static let standard = Output(STDOUT_FILENO)
    static let error = Output(STDERR_FILENO)

    let isTerminal: Bool
    private let number: CInt
    /// The width in columns of the terminal, or of a pager's; nil where this is none or it does not tell.
    let columns: Int?
    private let buffer = Locked([UInt8]())
    /// Whether some thread is in the midst of writing.
    private let isWriting = Atomic(false)
    private let isGivenUp = Atomic(false)

    private static let bufferBytes = 64 * 1024

    init(_ number: CInt) {
        self.number = number
        isTerminal = isatty(number) == 1
        columns = isTerminal ? Output.width(number) : nil
    }

    /// The width that the terminal has now: its window may have changed since.
    var presentColumns: Int? { isTerminal ? Output.width(number) : nil }

    private static func width(_ number: CInt) -> Int? {
        var size = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes `text` once the buffer is full or flushed.
    ///
    /// - Throws: `ClosedPipe`; `FileError` for anything else, such as a full disk.
    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if isGivenUp.load(ordering: .acquiring) { return }
        try buffer.withLock { buffer in
            buffer.append(contentsOf: bytes)
            if buffer.count >= Output.bufferBytes { try drain(&buffer) }
        }
    }

    /// Writes `text` and a line feed.
    func line(_ text: String) throws {
        try write(text + "\n")
    }

    /// Hands everything so far to the system.
    func flush() throws {
        if isGivenUp.load(ordering: .acquiring) { return }
        try buffer.withLock { try drain(&$0) }
    }

    /// Whether a few lines can be written without waiting for a reader.
    var takesMore: Bool {
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return !isWriting.load(ordering: .acquiring) && poll(&request, 1, 0) > 0
    }

    /// Stops writing where some thread has begun to and its reader does not read: nobody shall wait for that at the end.
    func giveUpIfStuck() {
        if isWriting.load(ordering: .acquiring) { isGivenUp.store(true, ordering: .releasing) }
    }

    private func drain(_ buffer: inout [UInt8]) throws {
        isWriting.store(true, ordering: .releasing)
        defer {
            buffer.removeAll(keepingCapacity: true)
            isWriting.store(false, ordering: .releasing)
        }
        try buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let slice = UnsafeRawBufferPointer(rebasing: rest)
                let written = retryingInterrupts { Glibc.write(number, slice.baseAddress, slice.count) }
                if written < 0 {
                    let code = Errno.current
                    if code == .brokenPipe { throw ClosedPipe() }
                    throw FileError("write to", FilePath(number == STDOUT_FILENO ? "stdout" : "stderr"), code)
                }
                rest = rest.dropFirst(written)
            }
        }
    }
}
