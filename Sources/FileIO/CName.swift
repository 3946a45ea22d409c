// A name as the kernel expects it: NUL-terminated bytes.

/// A file name or relative path with its terminating NUL, ready for a system call.
package struct CName: Sendable {
    private let terminated: [CChar]

    /// The empty name: with AT_EMPTY_PATH, the descriptor itself.
    package init() {
        terminated = [0]
    }

    /// Copies `bytes`, which hold no NUL, and adds the terminator.
    package init(_ bytes: some Collection<UInt8>) {
        var terminated = [CChar]()
        terminated.reserveCapacity(bytes.count + 1)
        for byte in bytes { terminated.append(CChar(bitPattern: byte)) }
        terminated.append(0)
        self.terminated = terminated
    }

    /// Copies `bytes`, which hold no NUL, and adds the terminator; the fast path for names found by a walk.
    package init(_ bytes: [UInt8]) {
        terminated = bytes.withUnsafeBufferPointer { CName.terminated($0) }
    }

    /// Copies `bytes`, which hold no NUL, and adds the terminator.
    package init(_ bytes: ArraySlice<UInt8>) {
        terminated = bytes.withUnsafeBufferPointer { CName.terminated($0) }
    }

    private static func terminated(_ bytes: UnsafeBufferPointer<UInt8>) -> [CChar] {
        [CChar](unsafeUninitializedCapacity: bytes.count + 1) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: UnsafeRawBufferPointer(bytes))
            buffer[bytes.count] = 0
            count = bytes.count + 1
        }
    }

    /// The name's bytes without the terminator.
    package var bytes: [UInt8] { terminated.dropLast().map { UInt8(bitPattern: $0) } }

    /// Calls `body` with the NUL-terminated bytes.
    package func withPointer<Result, Failure>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try terminated.withUnsafeBufferPointer { buffer throws(Failure) in
            // The array always holds the terminator, so its buffer has an address.
            guard let base = buffer.baseAddress else { preconditionFailure("CName without terminator") }
            return try body(base)
        }
    }
}
