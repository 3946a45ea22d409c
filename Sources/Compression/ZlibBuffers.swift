// Converts Swift's buffers to the pointers and lengths of zlib.

internal import CZlib

/// Selects raw DEFLATE, without zlib's header and checksum, with the largest window: 32 KiB.
let rawWindowBits: CInt = -15

/// The farthest DEFLATE can point back, in bytes.
private let windowByteCount = 32 * 1024

extension UnsafeRawBufferPointer {
    /// A pointer to the first byte; it is mutable because zlib's headers omit `const`.
    var zlibBytes: UnsafeMutablePointer<Bytef>? {
        UnsafeMutableRawPointer(mutating: baseAddress)?.assumingMemoryBound(to: Bytef.self)
    }

    /// The part of a dictionary that fits in the window; nil for an empty one.
    var zlibDictionary: (bytes: UnsafeMutablePointer<Bytef>?, length: UInt32)? {
        if isEmpty { return nil }
        let tail = UnsafeRawBufferPointer(rebasing: suffix(windowByteCount))
        return (tail.zlibBytes, UInt32(tail.count))
    }
}

extension UnsafeMutablePointer<z_stream> {
    /// Removes the pointers to the caller's memory.
    func forgetBuffers() {
        pointee.next_in = nil
        pointee.avail_in = 0
        pointee.next_out = nil
        pointee.avail_out = 0
    }
}
