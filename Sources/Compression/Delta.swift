// Applies deltas: a delta encodes bytes as the difference from other bytes that are already known.

/// A delta describes bytes, the *target*, as copies from other bytes, the *source*, with inserted bytes between them.
///
/// It is a list of instructions, followed by all bytes that they insert. An instruction has up to three numbers in
/// `LEB128`: the number of bytes to insert; then, unless the target is complete, the number of bytes to copy, at least
/// 1; and the distance in the source from the end of the previous copy (0 for the first) to the start of this one. A
/// distance of n bytes forward is written as 2 n, one of n bytes back as 2 n - 1.
///
/// The format resembles D. Korn et al., "The VCDIFF Generic Differencing and Compression Data Format" (RFC 3284).
package enum Delta {
    /// Returns the target that `delta` describes.
    ///
    /// - Parameter targetLength: the target's length in bytes; no more are ever written.
    /// - Throws: `corrupt` or `truncated`, or `trailingBytes` if no instruction inserts the last bytes.
    package static func apply(
        _ delta: UnsafeRawBufferPointer, to source: UnsafeRawBufferPointer, expecting targetLength: Int
    ) throws(CompressionError) -> [UInt8] {
        var reader = try InstructionReader(delta, targetLength: targetLength)
        var instructions: [Instruction] = []
        while let instruction = try reader.next(sourceLength: source.count) { instructions.append(instruction) }
        let inserts = UnsafeRawBufferPointer(rebasing: delta[reader.position...])
        guard inserts.count >= reader.insertedBytes else { throw .truncated }
        guard inserts.count == reader.insertedBytes else {
            throw .trailingBytes(inserts.count - reader.insertedBytes)
        }
        return [UInt8](unsafeUninitializedCapacity: targetLength) { target, count in
            var insertStart = 0
            func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[count...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
                count += bytes.count
            }
            for instruction in instructions {
                append(inserts[insertStart..<(insertStart + instruction.insertLength)])
                insertStart += instruction.insertLength
                append(source[instruction.copied])
            }
        }
    }

    /// One instruction: inserts bytes of the delta, then copies bytes of the source.
    private struct Instruction {
        let insertLength: Int
        let copied: Range<Int>
    }

    /// Reads the instructions of a delta and checks each against the lengths of source and target.
    private struct InstructionReader {
        private let delta: UnsafeRawBufferPointer
        private var ahead: Int
        private var copyEnd = 0
        /// The position of the next instruction in the delta.
        private(set) var position = 0
        /// Bytes that the instructions read so far insert.
        private(set) var insertedBytes = 0

        init(_ delta: UnsafeRawBufferPointer, targetLength: Int) throws(CompressionError) {
            guard targetLength >= 0 else { throw .tooLarge(byteCount: targetLength) }
            self.delta = delta
            ahead = targetLength
        }

        /// The next instruction; nil once the target is complete.
        mutating func next(sourceLength: Int) throws(CompressionError) -> Instruction? {
            if ahead == 0 { return nil }
            let insertLength = try number()
            guard insertLength <= ahead else { throw .corrupt }
            ahead -= insertLength
            insertedBytes += insertLength
            if ahead == 0 { return Instruction(insertLength: insertLength, copied: 0..<0) }
            let copyLength = try number()
            let distance = try number()
            let start = copyEnd + (distance & 1 == 0 ? distance >> 1 : -(distance >> 1) - 1)
            guard copyLength > 0, copyLength <= ahead, start >= 0, start <= sourceLength - copyLength else {
                throw .corrupt
            }
            ahead -= copyLength
            copyEnd = start + copyLength
            return Instruction(insertLength: insertLength, copied: start..<copyEnd)
        }

        private mutating func number() throws(CompressionError) -> Int {
            guard let (value, end) = LEB128.number(in: delta, at: position) else { throw .corrupt }
            position = end
            return value
        }
    }
}
