// Compresses and decompresses arrays, for the tests.

import Compression

extension Deflater {
    mutating func deflate(
        _ input: [UInt8], dictionary: [UInt8]? = nil, into output: inout [UInt8]
    ) throws(CompressionError) -> Bool {
        let (input, dictionary) = (Memory(input), Memory(dictionary ?? []))
        return try deflate(
            UnsafeRawBufferPointer(input.bytes), dictionary: UnsafeRawBufferPointer(dictionary.bytes), into: &output)
    }
}

extension Inflater {
    mutating func inflate(
        _ input: some Collection<UInt8>, dictionary: [UInt8]? = nil, expecting rawLength: Int
    ) throws(CompressionError) -> [UInt8] {
        let (input, dictionary) = (Memory(input), Memory(dictionary ?? []))
        return try inflate(
            UnsafeRawBufferPointer(input.bytes), dictionary: UnsafeRawBufferPointer(dictionary.bytes),
            expecting: rawLength)
    }
}

/// A copy of bytes in separate memory, so that a memory checker detects reads past either end.
private final class Memory {
    let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ source: some Collection<UInt8>) {
        bytes = .allocate(capacity: source.count)
        _ = bytes.initialize(fromContentsOf: source)
    }

    deinit { bytes.deallocate() }
}
