// Reads and writes little-endian integers at any alignment; rethrows typed errors from `withUnsafeBytes`.

extension [UInt8] {
    /// Appends the bytes of `value`, the least significant first.
    mutating func appendLittleEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Calls `body` with the array's bytes and rethrows its typed error, which `withUnsafeBytes` would erase.
    func decode<Value>(
        _ body: (UnsafeRawBufferPointer) throws(FormatError) -> Value
    ) throws(FormatError) -> Value {
        let result: Result<Value, FormatError> = withUnsafeBytes { bytes in
            do throws(FormatError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension UnsafeRawBufferPointer {
    /// The integer stored at `offset`, which the caller has checked to be within the buffer.
    func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The bytes at `range`, without a copy.
    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }
}
