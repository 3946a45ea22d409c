// The name of a replica, which is also the name of its files.

package import Roots

/// The name by which a person calls a replica.
package struct ReplicaName: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let text: String

    package var description: String { text }

    private static let lengthLimit = 32

    /// Checks a name: letters, digits, `-` and `_`, 1 to 32 of them, not `-` first.
    package init(_ text: String) throws(ArchiverError) {
        let isRight = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isRight, (1...ReplicaName.lengthLimit).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "-")
        else {
            throw ArchiverError(
                .unsuitableSettings, "'\(text)' cannot be the name of a replica",
                remedy: "use 1 to \(ReplicaName.lengthLimit) letters, digits, '-' and '_'")
        }
        self.text = text
    }

    package static func < (left: ReplicaName, right: ReplicaName) -> Bool { left.text < right.text }
}
