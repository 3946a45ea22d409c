// Swift's buffers as zlib takes them.

internal import CZlib

/// Raw DEFLATE without zlib's header and check sum, with the largest window: 32 KiB.
let rawWindowBits: CInt = -15

/// The farthest DEFLATE can point back, in bytes.
private let windowByteCount = 32 * 1024

extension UnsafeRawBufferPointer {
    /// The first byte; zlib's headers leave out a `const` here.
    var zlibBytes: UnsafeMutablePointer<Bytef>? {
        UnsafeMutableRawPointer(mutating: baseAddress)?.assumingMemoryBound(to: Bytef.self)
    }

    /// The part of a dictionary that the window can hold; nil where there is none.
    var zlibDictionary: (bytes: UnsafeMutablePointer<Bytef>?, length: UInt32)? {
        if isEmpty { return nil }
        let tail = UnsafeRawBufferPointer(rebasing: suffix(windowByteCount))
        return (tail.zlibBytes, UInt32(tail.count))
    }
}

extension UnsafeMutablePointer<z_stream> {
    /// Leaves no pointer to a caller's memory behind.
    func forgetBuffers() {
        pointee.next_in = nil
        pointee.avail_in = 0
        pointee.next_out = nil
        pointee.avail_out = 0
    }
}
