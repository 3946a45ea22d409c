// Signature Version 4: who asks, for what, and when, without showing the secret.
//
// Amazon Simple Storage Service API Reference, "Authenticating Requests: Using the Authorization Header (AWS Signature
// Version 4)"; the examples there are the tests.

internal import Crypto
internal import FoundationEssentials
internal import Glibc

struct S3Signature {
    let credentials: S3Credentials
    let region: String
    /// Seconds since 1970.
    let time: Int64

    /// `20130524T000000Z`, the header `x-amz-date`.
    var timestamp: String {
        var seconds = time_t(time)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(fields.tm_year + 1900, 4) + digits(fields.tm_mon + 1) + digits(fields.tm_mday) + "T"
            + digits(fields.tm_hour) + digits(fields.tm_min) + digits(fields.tm_sec) + "Z"
    }

    /// The value of the header `Authorization`.
    ///
    /// - Parameters:
    ///   - path: percent-encoded.
    ///   - headers: all that are signed, by names in lower case.
    ///   - payload: the SHA-256 of the body in hexadecimal digits.
    func authorization(
        method: String, path: String, query: [(name: String, value: String)] = [], headers: [String: String],
        payload: String
    ) -> String {
        let names = headers.keys.sorted()
        let request = [
            method, path, S3Signature.text(query),
            names.map { "\($0):\(headers[$0] ?? "")\n" }.joined(), names.joined(separator: ";"), payload,
        ].joined(separator: "\n")
        let day = timestamp.prefix(8)
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text =
            "AWS4-HMAC-SHA256\n\(timestamp)\n\(scope)\n\(S3Signature.hexadecimal(SHA256.hash(data: Data(request.utf8))))"
        var key = SymmetricKey(data: Data("AWS4\(credentials.secret)".utf8))
        for part in [String(day), region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        return
            "AWS4-HMAC-SHA256 Credential=\(credentials.key)/\(scope), SignedHeaders=\(names.joined(separator: ";")), "
            + "Signature=\(S3Signature.hexadecimal(code))"
    }

    /// A query in the order in which it is signed.
    static func text(_ query: [(name: String, value: String)]) -> String {
        query.map { (encoded($0.name), encoded($0.value)) }.sorted { $0 < $1 }.map { "\($0)=\($1)" }
            .joined(separator: "&")
    }

    /// Percent-encodes everything but letters, digits, `-`, `.`, `_` and `~`.
    static func encoded(_ text: String, keepingSlashes: Bool = false) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if ObjectName.isAllowed(byte) || byte == UInt8(ascii: "~") || (keepingSlashes && byte == UInt8(ascii: "/"))
            {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + hexadecimal([byte]).uppercased()
            }
        }
        return encoded
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
