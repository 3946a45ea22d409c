// A path that a capture could not capture as it is.

public import FileIO

/// A path that could not be captured properly, and why.
public struct Problem: Hashable, Sendable {
    /// Why the path could not be captured properly.
    ///
    /// Raw values are part of the archive format.
    public enum Reason: UInt8, Sendable, Hashable {
        /// It could not be read; the last known entry was used if there was one.
        case unreadable = 0
        /// It kept changing while it was read.
        case unstable = 1
        /// It is a large file that changes all the time and is captured less often; the last known entry was used.
        case postponed = 2
    }

    /// The path below the root.
    public var path: RelativePath
    /// What was not possible.
    public var reason: Reason
    /// More about the reason, for people, such as the system's error message; may be empty.
    public var detail: String

    /// A path that could not be captured as it is.
    package init(path: RelativePath, reason: Reason, detail: String) {
        self.path = path
        self.reason = reason
        self.detail = detail
    }
}

// MARK: - CBOR

extension Problem {
    /// The fields of a problem.
    ///
    /// Numbers are part of the archive format.
    enum CodingKeys: Int, FieldKey {
        case path = 0
        case reason = 1
        case detail = 2
    }

    func write(to writer: inout CBORWriter) {
        let map = writer.beginSmallMap()
        var count = writer.path(path, CodingKeys.path)
        if reason != .unreadable {
            count += 1
            writer.key(CodingKeys.reason)
            writer.unsigned(UInt64(reason.rawValue))
        }
        if !detail.isEmpty {
            count += 1
            writer.key(CodingKeys.detail)
            writer.text(detail)
        }
        writer.endSmallMap(map, count: count)
    }

    init(from reader: inout CBORReader) throws(FormatError) {
        self.init(path: .root, reason: .unreadable, detail: "")
        var fields = try reader.openFields(CodingKeys.self, depth: 2)
        while let field = try fields.next(&reader) {
            switch field {
            case .path: path = try reader.path()
            case .reason:
                reason = Reason(orUnreadable: try reader.present(reader.unsigned(UInt8.self)))
            case .detail: detail = try reader.presentText()
            }
        }
    }
}

extension Problem.Reason {
    /// The reason with this number; a number of a later program counts as unreadable.
    init(orUnreadable number: UInt8) { self = Self(rawValue: number) ?? .unreadable }
}

// MARK: - Codable

extension Problem: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try fields.decodeIfPresent(RelativePath.self, forKey: .path) ?? .root,
            reason: try fields.decodeIfPresent(Reason.self, forKey: .reason) ?? .unreadable,
            detail: try fields.decodeIfPresent(String.self, forKey: .detail) ?? "")
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if !path.isRoot { try fields.encode(path, forKey: .path) }
        if reason != .unreadable { try fields.encode(reason, forKey: .reason) }
        if !detail.isEmpty { try fields.encode(detail, forKey: .detail) }
    }
}

extension Problem.Reason: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(orUnreadable: try decoder.singleValueContainer().decode(UInt8.self))
    }
}
