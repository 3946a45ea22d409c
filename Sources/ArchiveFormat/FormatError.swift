// The errors for bytes that break the format, and how a `Decoder` reports them.

/// An error in an archive's bytes: they break the format.
package enum FormatError: Error, Sendable, Hashable {
    /// The bytes end before the value does.
    case truncated
    /// The bytes break a rule of the format; the text says which.
    case malformed(String)
    /// A checksum or an id does not match the bytes.
    case checksumMismatch(String)
    /// The bytes have a newer version of the format than this program supports.
    case unknownVersion(UInt32)
    /// The bytes need a feature that this program does not know, such as a word of a later program.
    case unknownFeature(String)
}

extension FormatError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated: "the data ends too early"
        case .malformed(let what): "malformed data: \(what)"
        case .checksumMismatch(let what): "the checksum of \(what) does not match"
        case .unknownVersion(let version): "format version \(version) is newer than this program supports"
        case .unknownFeature(let what): "\(what) is of a newer program than this one"
        }
    }
}

extension Decoder {
    /// The error for a value at this coding path that breaks a rule of the format.
    func corrupted(_ description: String, because cause: (any Error)? = nil) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: description, underlyingError: cause))
    }

    /// Runs `check` and adds this coding path to its errors.
    func checking<Result>(_ check: () throws(FormatError) -> Result) throws -> Result {
        do {
            return try check()
        } catch {
            throw corrupted(error.description, because: error)
        }
    }
}
