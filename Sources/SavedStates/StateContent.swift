// The content of a saved state of any type.

package import ArchiveFormat

/// The bytes of a saved state: one CBOR item.
package struct StateContent: Sendable {
    package let bytes: [UInt8]
    /// The number of CBOR items, including nested ones.
    private let items: Int

    /// The maximum size of a state to show or compare, in bytes.
    package static let bytesLimit = 128 << 20
    /// The maximum number of items of a state to compare; each takes some hundred bytes of memory.
    package static let comparedItems = 1 << 18

    /// - Throws: `FormatError` if `bytes` are not exactly one item.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        items = try CBORReader.countItems(of: bytes)
        self.bytes = bytes
    }

    /// Writes the state to `sink` in pieces as JSON with sorted keys, without a line feed at the end.
    package func writeJSON(pretty: Bool, to sink: CBORJSONWriter.Sink) throws {
        try bytes.withUnsafeBytes { try CBORJSONWriter.write($0, pretty: pretty, to: sink) }
    }

    /// The state as a value; nil if it has more than `comparedItems`.
    package func value() throws -> StateJSON? {
        items > StateContent.comparedItems ? nil : StateJSON(try CBORValue(decoding: bytes))
    }
}
