// Bytes that are not what the format says, and how a decoder tells of them.

/// Bytes of an archive do not follow the format.
public enum FormatError: Error, Sendable, Hashable {
    /// The bytes end before the value does.
    case truncated
    /// The bytes break a rule of the format; the text says which.
    case malformed(String)
    /// A checksum or an id does not fit the bytes.
    case checksumMismatch(String)
    /// The bytes are of a newer version of the format than this program knows.
    case unknownVersion(UInt32)
}

extension FormatError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated: "the data ends too early"
        case .malformed(let what): "malformed data: \(what)"
        case .checksumMismatch(let what): "the checksum of \(what) does not match"
        case .unknownVersion(let version): "format version \(version) is newer than this program"
        }
    }
}

extension Decoder {
    /// The error for a value here that breaks a rule of the format.
    func corrupted(_ description: String, because cause: (any Error)? = nil) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: description, underlyingError: cause))
    }

    /// Gives the errors of `check` the coding path of this place.
    func checking<Result>(_ check: () throws(FormatError) -> Result) throws -> Result {
        do {
            return try check()
        } catch {
            throw corrupted(error.description, because: error)
        }
    }
}
