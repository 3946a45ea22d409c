// Reads the values of extended attributes.

package import ArchiveFormat
package import ArchiveStorage

extension ArchiveStore {
    /// Returns the value of an entry's attribute; every byte of it is verified.
    package func value(of attribute: EntryAttribute) throws -> [UInt8] {
        var reader = ContentReader(attribute.value, in: self)
        var value: [UInt8] = []
        while case .data(let bytes)? = try reader.next() { value += bytes }
        return value
    }
}
