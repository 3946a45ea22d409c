// Bytes in memory: little-endian integers at any alignment, and typed errors out of scoped access.

extension [UInt8] {
    /// Appends the bytes of `value`, the least significant first.
    mutating func appendLittleEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// Decodes the array's bytes with `body` and keeps the type of its error, which `withUnsafeBytes` loses.
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
    /// The integer stored at `offset`; the caller has checked that it lies inside.
    func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The bytes at `range`, without a copy.
    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }
}
