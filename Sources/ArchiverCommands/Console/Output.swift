// Buffered writes to standard output and standard error with write(2); a closed pipe ends the program silently.

internal import FileIO
internal import Glibc
internal import Synchronization
internal import SystemPackage
internal import Threading

/// The error if the reader closed the pipe, as `head` does when it has read enough.
struct ClosedPipe: Error {}

/// One of the process's standard streams.
final class Output: Sendable {
    static let standard = Output(STDOUT_FILENO)
    static let error = Output(STDERR_FILENO)

    let isTerminal: Bool
    private let number: CInt
    /// The terminal's width in columns when the program started; nil if the stream is not a terminal or the width is
    /// unknown.
    ///
    /// It stays valid when the stream is redirected to a pager.
    let columns: Int?
    private let buffer = Locked([UInt8]())
    /// Whether a thread is writing.
    private let isWriting = Atomic(false)
    private let isGivenUp = Atomic(false)

    private static let bufferBytes = 64 * 1024

    init(_ number: CInt) {
        self.number = number
        isTerminal = isatty(number) == 1
        columns = isTerminal ? Output.width(number) : nil
    }

    /// The terminal's current width, which may have changed since the start.
    var presentColumns: Int? { isTerminal ? Output.width(number) : nil }

    private static func width(_ number: CInt) -> Int? {
        var size = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Appends `text` to the buffer, which is written when it is full or flushed.
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

    /// Appends `text` and a line feed.
    func line(_ text: String) throws {
        try write(text + "\n")
    }

    /// Writes the buffer.
    func flush() throws {
        if isGivenUp.load(ordering: .acquiring) { return }
        try buffer.withLock { try drain(&$0) }
    }

    /// Whether a few lines can be written without waiting for a reader.
    var takesMore: Bool {
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return !isWriting.load(ordering: .acquiring) && poll(&request, 1, 0) > 0
    }

    /// Discards later output if a thread is blocked in a write, so that the end of the program does not wait for it.
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
