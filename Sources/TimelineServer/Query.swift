// The parameters of a URL, as bytes: file names need not be UTF-8.

internal import ArchiveFormat
internal import FileIO
internal import Hummingbird
internal import Timeline

/// The parameters of a URL (WHATWG URL, application/x-www-form-urlencoded).
struct Query {
    private var values: [String: [UInt8]] = [:]

    init(_ request: Request) throws(Refusal) { try self.init(request.uri.query ?? "") }

    init(_ text: String) throws(Refusal) {
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first else { continue }
            let key = String(decoding: try Query.decoded(name), as: UTF8.self)
            values[key] = parts.count > 1 ? try Query.decoded(parts[1]) : []
        }
    }

    subscript(name: String) -> String? { values[name].map { String(decoding: $0, as: UTF8.self) } }

    func bytes(_ name: String) -> [UInt8]? { values[name] }

    func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else { throw Refusal.bad("'\(name)' is missing") }
        return value
    }

    /// Returns an integer, clamped to a range; `usual` if the parameter is absent.
    func number(_ name: String, in range: ClosedRange<Int>, usual: Int) throws(Refusal) -> Int {
        guard let text = self[name] else { return usual }
        guard let number = Int(text) else { throw Refusal.bad("'\(name)' is not a number") }
        return min(max(number, range.lowerBound), range.upperBound)
    }

    /// Returns an instant, given in milliseconds since 1970.
    func time(_ name: String) throws(Refusal) -> Timestamp? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text) else { throw Refusal.bad("'\(name)' is not a time in milliseconds") }
        return Timestamp(milliseconds: number)
    }

    /// Returns the path that `path` or `pathBytes` names; the root if there is neither.
    func path() throws(Refusal) -> RelativePath {
        if let text = self["pathBytes"] { return try Query.path(nil, text) }
        return try Query.path(bytes("path") ?? [])
    }

    /// Returns a path that is given as text or, in base64url, as bytes.
    static func path(_ text: String?, _ encoded: String?) throws(Refusal) -> RelativePath {
        guard let encoded else { return try path(Array((text ?? "").utf8)) }
        guard let bytes = Base64URL.decoded(encoded) else { throw Refusal.bad("'pathBytes' is not base64url") }
        return try path(bytes)
    }

    static func path(_ bytes: [UInt8]) throws(Refusal) -> RelativePath {
        guard let path = RelativePath(bytes) else { throw Refusal.bad("not a valid path below a root") }
        return path
    }

    private static func decoded(_ text: some Sequence<UInt8>) throws(Refusal) -> [UInt8] {
        var bytes: [UInt8] = []
        var digits: [UInt8]?
        for byte in text {
            if var open = digits {
                guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                    throw Refusal.bad("invalid percent-encoding in the URL")
                }
                open.append(UInt8(digit))
                digits = open.count == 2 ? nil : open
                if open.count == 2 { bytes.append(open[0] << 4 | open[1]) }
            } else if byte == UInt8(ascii: "%") {
                digits = []
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        if digits != nil { throw Refusal.bad("incomplete percent-encoding in the URL") }
        return bytes
    }
}

/// base64url without padding (RFC 4648, section 5).
enum Base64URL {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let word = part.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for index in 0...part.count { text.append(letters[Int(word >> UInt32(18 - 6 * index)) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func decoded(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (word, bits): (UInt32, UInt32) = (0, 0)
        for letter in text.utf8 where letter != UInt8(ascii: "=") {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            word = (word << 6 | UInt32(value)) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return bytes
    }
}
