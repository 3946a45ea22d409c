// The time of an object: in its header, in clear and signed, so that the age of a replica is known without a key.

internal import ArchiveFormat
package import FileIO

/// A time to the second, as text of 20 characters.
package struct ReplicaTime: Sendable, Hashable, Comparable {
    package let text: String
    package let time: Timestamp

    package init(_ time: Timestamp) {
        let second = min(max(time.seconds, 0), ReplicaTime.latest)
        self.time = Timestamp(seconds: second)
        text = String(self.time.rfc3339.prefix(19)) + "Z"
    }

    /// Parses the text; nil if it is not in this form.
    package init?(_ text: String) {
        guard let time = Timestamp(rfc3339: text), ReplicaTime(time).text == text else { return nil }
        self = ReplicaTime(time)
    }

    /// The time as part of an object's name: "20261121T101530Z".
    package var objectName: String { text.filter { $0 != "-" && $0 != ":" } }

    /// Parses the name; nil if it is not in this form.
    package init?(objectName name: String) {
        let digits = Array(name)
        guard digits.count == 16 else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        let text =
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<11)):\(part(11..<13)):\(part(13..<16))"
        guard let time = ReplicaTime(text), time.objectName == name else { return nil }
        self = time
    }

    package static func < (left: ReplicaTime, right: ReplicaTime) -> Bool { left.time < right.time }

    /// The end of the year 9999.
    private static let latest: Int64 = 253_402_300_799
}
