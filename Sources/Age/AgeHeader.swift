// The header of an age file: who can read it, and the code that authenticates it (C2SP age.md, "Header").
//
// The parser accepts exactly what the format's grammar has, because every other reading is a way to change a file
// unnoticed.

internal import Crypto
internal import FoundationEssentials

/// A part of a header that holds the file's key for one recipient, or something that other programs ignore.
package struct AgeStanza: Sendable, Hashable {
    /// The first argument.
    package let type: String
    /// The other arguments.
    package let arguments: [String]
    package let body: [UInt8]

    /// Makes a stanza.
    ///
    /// - Returns: nil if an argument is empty or has other characters than visible ASCII ones.
    package init?(type: String, arguments: [String] = [], body: [UInt8] = []) {
        guard ([type] + arguments).allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } })
        else {
            return nil
        }
        self.init(valid: type, arguments, body)
    }

    init(valid type: String, _ arguments: [String], _ body: [UInt8]) {
        (self.type, self.arguments, self.body) = (type, arguments, body)
    }

    /// The stanza's lines: one of arguments, full lines of 64 characters, and a shorter one.
    var text: [UInt8] {
        var text = Array("-> \(([type] + arguments).joined(separator: " "))\n".utf8)
        let encoded = Base64.encode(body)
        for start in stride(from: 0, through: encoded.count, by: AgeHeader.columns) {
            text += encoded[start..<min(encoded.count, start + AgeHeader.columns)] + [UInt8(ascii: "\n")]
        }
        return text
    }
}

/// A parsed header.
package struct AgeHeader: Sendable, Hashable {
    package let stanzas: [AgeStanza]
    /// The header's length in bytes; the nonce of the encrypted bytes follows.
    package let length: Int
    private let authenticated: [UInt8]
    private let code: [UInt8]

    /// The longest accepted header in bytes.
    package static let lengthLimit = 256 << 10
    /// The length of the nonce after the header.
    package static let nonceLength = 16

    static let columns = 64
    static let versionLine = Array("age-encryption.org/v1\n".utf8)

    /// Parses the header at the beginning of `bytes`, which may end anywhere behind it.
    package init(parsing bytes: [UInt8]) throws(AgeError) {
        guard let header = try AgeHeader.parse(bytes, isWhole: true) else { throw AgeHeader.cut }
        self = header
    }

    private static var cut: AgeError { AgeError(.malformedHeader, "the age header is cut off") }

    /// Parses a header at the beginning of `bytes`.
    ///
    /// - Parameter isWhole: whether the file has no more bytes.
    /// - Returns: nil if the header needs more bytes.
    static func parse(_ bytes: [UInt8], isWhole: Bool) throws(AgeError) -> AgeHeader? {
        let isCut: (String) throws(AgeError) -> Void = { (detail) throws(AgeError) in
            if isWhole { throw AgeError(.malformedHeader, detail) }
            if bytes.count >= AgeHeader.lengthLimit {
                throw AgeError(.malformedHeader, "the age header is longer than \(AgeHeader.lengthLimit / 1024) KiB")
            }
        }
        let first = bytes.prefix(versionLine.count)
        guard first.elementsEqual(versionLine) else {
            if versionLine.starts(with: first) {
                try isCut("this is no age file, or it is cut off")
                return nil
            }
            let family = versionLine.prefix { $0 != UInt8(ascii: "/") }
            if first.starts(with: family), first.dropFirst(family.count).first == UInt8(ascii: "/") {
                throw AgeError(.unknownVersion, "the age file has another version than 1; a newer program may read it")
            }
            throw AgeError(.malformedHeader, "this is no age file")
        }
        var position = versionLine.count
        var number = 1
        /// The next line without its end; nil if it is not complete.
        func nextLine() -> ArraySlice<UInt8>? {
            guard let end = bytes[position...].prefix(lengthLimit).firstIndex(of: UInt8(ascii: "\n")) else {
                return nil
            }
            defer { position = end + 1 }
            number += 1
            return bytes[position..<end]
        }
        func malformed(_ reason: String) -> AgeError {
            AgeError(.malformedHeader, "line \(number) of the age header: \(reason)")
        }
        var stanzas: [AgeStanza] = []
        while true {
            guard position <= lengthLimit else {
                throw AgeError(.malformedHeader, "the age header is longer than \(lengthLimit / 1024) KiB")
            }
            let start = position
            guard let line = nextLine() else { break }
            if line.starts(with: "---".utf8) {
                guard !stanzas.isEmpty else { throw malformed("there is no recipient before it") }
                guard line.count == 4 + 43, line[start + 3] == UInt8(ascii: " "),
                    let code = Base64.decode(line.dropFirst(4)), code.count == 32
                else { throw malformed("the authentication code is not the base64 of 32 bytes") }
                return AgeHeader(
                    stanzas: stanzas, length: position, authenticated: Array(bytes[..<(start + 3)]), code: code)
            }
            guard line.starts(with: "-> ".utf8) else { throw malformed("it begins with neither '-> ' nor '---'") }
            let words = line.dropFirst(3).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x21...0x7e).contains($0) } }) else {
                throw malformed("an argument is empty or has characters that are not allowed")
            }
            var body: [UInt8] = []
            var isComplete = false
            while !isComplete, let line = nextLine() {
                guard line.count <= columns, let piece = Base64.decode(line) else {
                    throw malformed("it is not canonical base64 in lines of \(columns) characters")
                }
                body += piece
                isComplete = line.count < columns
            }
            guard isComplete else { break }
            let texts = words.map { String(decoding: $0, as: UTF8.self) }
            stanzas.append(AgeStanza(valid: texts[0], Array(texts.dropFirst()), body))
        }
        try isCut(cut.detail)
        return nil
    }

    private init(stanzas: [AgeStanza], length: Int, authenticated: [UInt8], code: [UInt8]) {
        (self.stanzas, self.length, self.authenticated, self.code) = (stanzas, length, authenticated, code)
    }

    /// The bytes of a header with `stanzas`, authenticated with the file's key.
    static func bytes(_ stanzas: [AgeStanza], key: FileKey) -> [UInt8] {
        let authenticated = versionLine + stanzas.flatMap(\.text) + Array("---".utf8)
        let code = HMAC<SHA256>.authenticationCode(for: authenticated, using: key.derived(info: "header"))
        return authenticated + [UInt8(ascii: " ")] + Base64.encode(Array(code)) + [UInt8(ascii: "\n")]
    }

    /// Throws unless the header is the one that was written with `key`.
    func authenticate(with key: FileKey) throws(AgeError) {
        let isRight = HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: authenticated, using: key.derived(info: "header"))
        guard isRight else {
            throw AgeError(.wrongAuthentication, "the age header was changed: its authentication code is wrong")
        }
    }
}

/// The 16 bytes that every other key of a file comes from.
struct FileKey: Sendable {
    static let length = 16
    private let key: SymmetricKey

    /// Makes a random key.
    init() { key = SymmetricKey(size: .bits128) }

    init(_ bytes: some ContiguousBytes) { key = SymmetricKey(data: bytes) }

    var bytes: Data { key.withUnsafeBytes { Data($0) } }

    /// A key of 32 bytes for one purpose (RFC 5869).
    func derived(info: String, salt: [UInt8] = []) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: salt, info: Data(info.utf8), outputByteCount: 32)
    }

    /// 32 bytes that tell nothing about the key, and that no other key has.
    var commitment: [UInt8] { derived(info: "archiver commitment").withUnsafeBytes { Array($0) } }
}
