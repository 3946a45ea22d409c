// What S3 answers: lists and errors, as XML.

/// The texts of elements of an answer.
///
/// The XML of S3 has no attributes that matter here, and no nested elements of the same name.
struct S3Answer {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    private init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The text of the first element `name`; nil if there is none, or if it is not closed.
    func text(_ name: String) -> String? { elements(name, limit: 1).first.map(\.unescaped) }

    /// The elements `name`.
    func elements(_ name: String, limit: Int = .max) -> [S3Answer] {
        let open = Array("<\(name)>".utf8)
        let close = Array("</\(name)>".utf8)
        var found: [S3Answer] = []
        var rest = bytes
        while found.count < limit, let start = S3Answer.find(open, in: rest),
            let end = S3Answer.find(close, in: rest[(start + open.count)...])
        {
            found.append(S3Answer(rest[(start + open.count)..<end]))
            rest = rest[(end + close.count)...]
        }
        return found
    }

    private static func find(_ text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            if rest[start...].starts(with: text) { return start }
            rest = rest[(start + 1)...]
        }
        return nil
    }

    private var unescaped: String {
        var text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("&") else { return text }
        for (entity, character) in [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&#39;", "'"),
            ("&amp;", "&"),
        ] {
            text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character)
        }
        return text
    }
}

extension ObjectStoreError {
    /// The error that an answer of S3 means.
    ///
    /// Amazon S3 API Reference, "Error responses"; Ceph, MinIO and others use the same codes.
    init(_ answer: HTTPAnswer, _ operation: String) {
        let xml = S3Answer(answer.body)
        let word = xml.text("Code") ?? ""
        var detail = [word, xml.text("Message") ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
        if detail.isEmpty { detail = "HTTP \(answer.status)" }
        let code: Code
        switch word {
        // `rclone serve s3` has no word of its own for a clock that is behind.
        case "AccessDenied" where detail.contains("request time"): code = .wrongClock
        case "NoSuchKey", "NoSuchVersion": code = .noSuchObject
        case "NoSuchBucket", "InvalidBucketName": code = .noSuchBucket
        case "AccessDenied", "AllAccessDisabled", "AccountProblem", "MethodNotAllowed", "ObjectLocked":
            code = .notAllowed
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired",
            "InvalidSecurity", "NotSignedUp", "InvalidClientTokenId", "UserSuspended":
            code = .wrongCredentials
        case "RequestTimeTooSkewed", "RequestExpired": code = .wrongClock
        case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException":
            code = .wrongRegion
            if let region = xml.text("Region") ?? answer.headers["x-amz-bucket-region"] {
                detail += " (it is in \(region))"
            }
        case "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "ServiceQuotaExceededException": code = .full
        case "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "BadDigest", "IncompleteBody",
            "XAmzContentSHA256Mismatch", "OperationAborted", "ConditionalRequestConflict", "TooManyRequestsException":
            code = .busy
        case "EntityTooLarge", "MaxMessageLengthExceeded": code = .tooLarge
        case "NotImplemented": code = .notSupported
        default:
            switch answer.status {
            case 301, 307: code = .wrongRegion
            case 401, 403: code = .notAllowed
            case 408, 409, 429, 500...506, 508...599: code = .busy
            case 413: code = .tooLarge
            case 507: code = .full
            default: code = .unexpectedAnswer
            }
        }
        self.init(code, operation, detail)
    }
}
