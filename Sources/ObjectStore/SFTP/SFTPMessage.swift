// Messages of SFTP, version 3 (draft-ietf-secsh-filexfer-02): numbers are big-endian, texts have their length before them.

/// A message to or from the server, without the length before it.
struct SFTPMessage {
    enum Kind: UInt8 {
        case start = 1, version, open, close, read, write, linkStatus, handleStatus
        case openDirectory = 11, readDirectory, remove, makeDirectory
        case status = 17, rename
        case statusAnswer = 101, handleAnswer, dataAnswer, nameAnswer, attributesAnswer
        case extended = 200, extendedAnswer
    }

    /// The codes `SSH_FX_…`.
    enum Status: UInt32 {
        case ok, endOfFile, noSuchFile, permissionDenied, failure, badMessage, noConnection, connectionLost,
            notSupported
    }

    /// The flags `SSH_FXF_…`.
    enum OpenFlag {
        static let read: UInt32 = 1
        static let write: UInt32 = 2
        static let create: UInt32 = 8
        static let mustBeNew: UInt32 = 0x20
    }

    private(set) var bytes: [UInt8]

    init(_ kind: Kind) { bytes = [kind.rawValue] }

    mutating func append(_ number: UInt32) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(shift))) }
    }

    mutating func append(_ number: UInt64) {
        append(UInt32(truncatingIfNeeded: number >> 32))
        append(UInt32(truncatingIfNeeded: number))
    }

    mutating func append(_ content: some Collection<UInt8>) {
        append(UInt32(content.count))
        bytes += content
    }

    mutating func append(_ text: String) { append(text.utf8) }

    /// The attributes of a new object: its permissions.
    mutating func append(permissions: UInt32) {
        append(UInt32(4))
        append(permissions)
    }

    /// No attributes.
    mutating func appendNoAttributes() { append(UInt32(0)) }
}

/// The fields of a message from the server; a field that is not there is an error.
struct SFTPFields {
    struct Missing: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() throws(Missing) -> UInt8 {
        guard let byte = rest.popFirst() else { throw Missing() }
        return byte
    }

    mutating func number() throws(Missing) -> UInt32 {
        guard rest.count >= 4 else { throw Missing() }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func large() throws(Missing) -> UInt64 {
        let high = try number()
        return UInt64(high) << 32 | UInt64(try number())
    }

    mutating func content() throws(Missing) -> [UInt8] {
        let count = Int(try number())
        guard rest.count >= count else { throw Missing() }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() throws(Missing) -> String { String(decoding: try content(), as: UTF8.self) }

    /// What a server says about an object.
    struct Attributes {
        var length: UInt64?
        var mode: UInt32?

        private static let typeMask: UInt32 = 0o170000
        var isDirectory: Bool? { mode.map { $0 & Self.typeMask == 0o040000 } }
        var isFile: Bool? { mode.map { $0 & Self.typeMask == 0o100000 } }
    }

    mutating func attributes() throws(Missing) -> Attributes {
        let flags = try number()
        var attributes = Attributes()
        if flags & 1 != 0 { attributes.length = try large() }
        if flags & 2 != 0 { _ = try large() }
        if flags & 4 != 0 { attributes.mode = try number() }
        if flags & 8 != 0 { _ = try large() }
        if flags & 0x8000_0000 != 0 {
            for _ in 0..<min(try number(), 1000) {
                _ = try content()
                _ = try content()
            }
        }
        return attributes
    }
}
