// Raw access to byte arrays with typed throws, and searching in bytes by the C library, which compares many at a time.

internal import CLinux
internal import Glibc

extension Array where Element == UInt8 {
    /// Like `withUnsafeBytes`, with typed throws.
    package func withRawBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns where the first byte `byte` within a range is.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        guard let baseAddress, !range.isEmpty else { return nil }
        let place = memchr(baseAddress + range.lowerBound, CInt(byte), range.count)
        return place.map { UnsafeRawPointer($0) - baseAddress }
    }

    /// Returns where the first place at or after `start` is that has the bytes `text`, which are not empty.
    package func firstIndex(of text: [UInt8], from start: Int) -> Int? {
        guard let baseAddress, start < count else { return nil }
        return clinux_memmem(baseAddress + start, count - start, text, text.count).map { $0 - baseAddress }
    }

    /// The line that holds the byte at `place`, without its line feed.
    package func line(at place: Int) -> Range<Int> {
        let start = baseAddress.flatMap { base in
            clinux_memrchr(base, CInt(UInt8(ascii: "\n")), place).map { $0 - base + 1 }
        }
        return (start ?? 0)..<(firstIndex(of: UInt8(ascii: "\n"), in: place..<count) ?? count)
    }

    /// The number of line feeds within a range.
    package func lineFeeds(in range: Range<Int>) -> Int {
        var (found, start) = (0, range.lowerBound)
        while let next = firstIndex(of: UInt8(ascii: "\n"), in: start..<range.upperBound) {
            (found, start) = (found + 1, next + 1)
        }
        return found
    }
}
