// The addresses of stores, and which store each opens.

/// The address of a store: `s3://bucket/prefix`, `sftp://user@host/path` or `file:///path`.
package enum StoreAddress: Sendable, Hashable {
    /// Objects below `prefix`, which is empty or ends with `/`, in a bucket.
    case s3(bucket: String, prefix: String, endpoint: String?, region: String?, profile: String?)
    /// Objects below a directory of a machine that is reached by the user's `ssh`.
    case sftp(user: String?, host: String, port: UInt16?, path: String)
    /// Objects below a directory of this machine.
    case directory(path: String)

    /// Whether `text` looks like an address, and not like a path: it begins with one of the schemes.
    package static func isAddress(_ text: String) -> Bool {
        ["s3:", "sftp:", "file:"].contains { text.hasPrefix($0) }
    }

    /// Parses an address.
    ///
    /// - Throws: `ObjectStoreError` `.badAddress` that says why; a password is refused, and not repeated.
    package init(_ text: String) throws(ObjectStoreError) {
        func bad(_ reason: String) -> ObjectStoreError {
            ObjectStoreError(.badAddress, "use the address of a store", reason)
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let scheme = text[..<colon]
        var rest = text[colon...].dropFirst(3)
        guard text[colon...].hasPrefix("://") else { throw bad("begin it with s3://, sftp:// or file://") }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw bad("it has a space or a control character")
        }
        guard !rest.contains("#") else { throw bad("'#' has no meaning in it; write %23") }
        var query: [String: String] = [:]
        if let mark = rest.firstIndex(of: "?") {
            for item in rest[rest.index(after: mark)...].split(separator: "&") {
                let parts = item.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, let value = StoreAddress.decoded(parts[1]) else {
                    throw bad("'?' is not followed by name=value")
                }
                guard query.updateValue(value, forKey: String(parts[0])) == nil else {
                    throw bad("\(parts[0]) is given twice")
                }
            }
            rest = rest[..<mark]
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        guard let path = StoreAddress.decoded(rest[slash...]), !path.utf8.contains(0) else {
            throw bad("a '%' in it is not followed by two hexadecimal digits")
        }
        let known: Set<String> = scheme == "s3" ? ["endpoint", "region", "profile"] : []
        if let name = query.keys.sorted().first(where: { !known.contains($0) }) {
            throw bad(
                known.isEmpty ? "it has no parameters" : "the parameters are endpoint, region and profile, not \(name)")
        }
        let words = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard !words.contains("."), !words.contains("..") else { throw bad("leave out '.' and '..'") }
        switch scheme {
        case "file":
            guard authority.isEmpty, path.hasPrefix("/") else {
                throw bad("write file:// and an absolute path: file:///path")
            }
            self = .directory(path: path)
        case "sftp":
            guard !path.isEmpty, path != "/" else { throw bad("add a path: sftp://user@host/path") }
            self = try .sftp(authority, path: path, bad)
        case "s3":
            let bucket = String(authority)
            guard !bucket.contains("@") else {
                throw bad("keys are not part of it; set them in the environment or in ~/.aws/credentials")
            }
            guard StoreAddress.isBucket(bucket) else {
                throw bad("a bucket's name has 3 to 63 small letters, digits, '.' and '-'")
            }
            let prefix = path.drop { $0 == "/" }
            guard ObjectName.canBegin(String(prefix)) else {
                throw bad("a prefix has letters, digits, '.', '_' and '-', and '/' between its parts")
            }
            let endpoint = query["endpoint"]
            if let endpoint, !endpoint.hasPrefix("http://"), !endpoint.hasPrefix("https://") {
                throw bad("an endpoint begins with https:// or http://")
            }
            guard !(endpoint?.contains("@") ?? false) else {
                throw bad("keys are not part of it; set them in the environment or in ~/.aws/credentials")
            }
            self = .s3(
                bucket: bucket, prefix: prefix.isEmpty || prefix.hasSuffix("/") ? String(prefix) : prefix + "/",
                endpoint: endpoint, region: query["region"], profile: query["profile"])
        default: throw bad("begin it with s3://, sftp:// or file://")
        }
    }

    private static func sftp(
        _ authority: Substring, path: String, _ bad: (String) -> ObjectStoreError
    ) throws(ObjectStoreError) -> StoreAddress {
        var host = authority
        var user: String?
        if let at = authority.lastIndex(of: "@") {
            let name = authority[..<at]
            guard !name.contains(":") else { throw bad("a password is not part of it; use ssh keys") }
            user = String(name)
            host = authority[authority.index(after: at)...]
        }
        var port: UInt16?
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
            guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else {
                throw bad("the port is no number")
            }
            port = number
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        // Both are arguments of ssh, so neither may look like an option or hold what a shell or ssh_config(5) expands.
        func isWord(_ text: some StringProtocol, _ others: String) -> Bool {
            !text.isEmpty && !text.hasPrefix("-")
                && text.utf8.allSatisfy { ObjectName.isAllowed($0) || others.utf8.contains($0) }
        }
        guard isWord(host, ":%") else { throw bad("'\(host)' is not the name of a machine") }
        if let user, !isWord(user, "\\+$") { throw bad("'\(user)' is not the name of a user") }
        return .sftp(user: user, host: String(host), port: port, path: path)
    }

    private static func isBucket(_ name: String) -> Bool {
        (3...63).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy {
                ObjectName.isAllowed($0) && $0 != UInt8(ascii: "_") && !(0x41...0x5a).contains($0)
            }
    }

    /// Replaces `%XX`; nil if the digits are wrong or the result is not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.first != "+", digits.first != "-", let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// Opens stores.
package enum ObjectStores {
    /// Opens the store of an address, without a request to it.
    ///
    /// - Parameter environment: the process's variables: credentials of S3, and where its files are.
    package static func open(
        _ address: StoreAddress, environment: [String: String]
    ) throws(ObjectStoreError) -> any ObjectStore {
        switch address {
        case .directory(let path): DirectoryStore(path: path)
        case .sftp(let user, let host, let port, let path): SFTPStore(user: user, host: host, port: port, path: path)
        case .s3(let bucket, let prefix, let endpoint, let region, let profile):
            try S3Store(
                bucket: bucket, prefix: prefix, endpoint: endpoint, region: region, profile: profile,
                environment: environment)
        }
    }
}
