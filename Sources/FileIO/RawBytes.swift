// Raw access to byte arrays with typed throws.

extension Array where Element == UInt8 {
    /// Like `withUnsafeBytes`, with typed throws.
    package func withRawBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }
}
