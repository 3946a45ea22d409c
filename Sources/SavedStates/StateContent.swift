// What a saved state holds, whatever type it was saved from.

package import ArchiveFormat

/// The bytes of a saved state: one CBOR item.
package struct StateContent: Sendable {
    package let bytes: [UInt8]
    /// How many items there are, those in arrays and maps counted.
    private let items: Int

    /// The most bytes of a state that are shown or compared.
    package static let bytesLimit = 128 << 20
    /// The most items of a state that is compared: each takes some hundred bytes of memory.
    package static let comparedItems = 1 << 18

    /// - Throws: `FormatError` where `bytes` are anything but one item.
    package init(_ bytes: [UInt8]) throws(FormatError) {
        items = try CBORReader.countItems(of: bytes)
        self.bytes = bytes
    }

    /// Hands the state to `sink` piece by piece as JSON with sorted keys, without a line feed at the end.
    package func writeJSON(pretty: Bool, to sink: CBORJSONWriter.Sink) throws {
        try bytes.withUnsafeBytes { try CBORJSONWriter.write($0, pretty: pretty, to: sink) }
    }

    /// The state as a value; nil where it has more than `comparedItems`.
    package func value() throws -> StateJSON? {
        items > StateContent.comparedItems ? nil : StateJSON(try CBORValue(decoding: bytes))
    }
}
