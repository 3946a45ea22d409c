// Encodes a path relative to the path before it: the number of equal leading bytes, then the rest. Neighbours in a node
// share most of their path, and the first different byte already decides the order.

internal import FileIO

extension RelativePath {
    /// The number of leading bytes that equal those of `previous`.
    func sharedPrefix(with previous: RelativePath?) -> Int {
        guard let previous else { return 0 }
        return bytes.withUnsafeBufferPointer { bytes in
            previous.bytes.withUnsafeBufferPointer { previous in
                let limit = min(bytes.count, previous.count)
                var count = 0
                while count < limit && bytes[count] == previous[count] { count += 1 }
                return count
            }
        }
    }

    /// Reassembles a path.
    ///
    /// - Parameters:
    ///   - shared: the number of leading bytes that equal those of `previous`; all of them must be counted.
    ///   - previous: the path before, which must come earlier in walk order; nil for the first.
    /// - Throws: `malformed` if `shared` is wrong, the result is not a path, or the order is wrong.
    init(
        sharing shared: UInt64, of previous: RelativePath?, suffix: UnsafeRawBufferPointer
    ) throws(FormatError) {
        guard let previous else {
            guard shared == 0 else { throw .malformed("a first path that shares bytes with a path before it") }
            try RelativePath.checkLength(suffix.count)
            self.init(unchecked: Array(suffix))
            guard hasValidComponents(from: 0) else { throw .malformed("an invalid path") }
            return
        }
        guard shared <= UInt64(previous.bytes.count) else { throw .malformed("a path that shares too many bytes") }
        let shared = Int(shared)
        guard let first = suffix.first else { throw .malformed("paths out of order") }
        if shared < previous.bytes.count {
            let replaced = previous.bytes[shared]
            guard replaced != first else { throw .malformed("a path that shares more bytes than it states") }
            let slash = UInt8(ascii: "/")
            guard first != slash, replaced == slash || replaced < first else { throw .malformed("paths out of order") }
        }
        let count = shared + suffix.count
        try RelativePath.checkLength(count)
        self.init(
            unchecked: [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                let buffer = UnsafeMutableRawBufferPointer(buffer)
                previous.bytes.withUnsafeBytes {
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<shared]))
                }
                UnsafeMutableRawBufferPointer(rebasing: buffer[shared..<count]).copyMemory(from: suffix)
                initialized = count
            })
        guard hasValidComponents(from: shared) else { throw .malformed("an invalid path") }
    }

    private static func checkLength(_ count: Int) throws(FormatError) {
        guard count <= FormatLimits.pathBytes else { throw .malformed("a path of \(count) bytes") }
    }

    /// Whether the component with byte `start` and all later ones are valid; earlier ones are known to be valid.
    private func hasValidComponents(from start: Int) -> Bool {
        if bytes.isEmpty { return true }
        return bytes.withUnsafeBufferPointer { bytes in
            let slash = UInt8(ascii: "/")
            let dot = UInt8(ascii: ".")
            var component = start
            while component > 0 && bytes[component - 1] != slash { component -= 1 }
            var index = component
            while index <= bytes.count {
                if index < bytes.count && bytes[index] != slash {
                    if bytes[index] == 0 { return false }
                } else {
                    switch index - component {
                    case 0: return false
                    case 1 where bytes[component] == dot: return false
                    case 2 where bytes[component] == dot && bytes[component + 1] == dot: return false
                    default: component = index + 1
                    }
                }
                index += 1
            }
            return true
        }
    }
}
