// Objects in a bucket of S3, as AWS, Ceph, MinIO and others speak it.

internal import Crypto
internal import FoundationEssentials
internal import Glibc
internal import Threading

/// Objects below a prefix in a bucket.
///
/// An object is one PUT with `If-None-Match: *`, so that it appears as a whole or not at all, and replaces nothing. It is
/// signed with its SHA-256, which lets the store notice a damaged upload. Its MD5, which takes as long as encrypting it, is
/// sent only to stores that ask for it.
package final class S3Store: ObjectStore {
    package let address: String
    private let prefix: String
    /// `https://host/bucket`, without a slash at the end.
    private let base: Base
    private let region: String
    private let profile: String?
    private let environment: [String: String]
    private let credentials: Locked<S3Credentials>
    private let client: HTTPClient
    private let closing = StoreClosing()
    private let demands = Locked(Demands())
    /// Held while an object is hashed: if all that are sent together were hashed together, the store would be idle for as
    /// long as that takes.
    private let hashing = Locked(())
    private let clock: @Sendable () -> Int64

    /// What the store has said about PUTs when it refused one.
    private struct Demands {
        var noConditions = false
        /// As for a bucket with object lock on AWS, for which a signed SHA-256 is not enough.
        var md5 = false
    }

    private struct Base {
        let scheme: String
        let host: String
        let path: String
    }

    /// The largest object of one PUT.
    private static let objectLimit: UInt64 = 5 << 30
    private static let pageLimit: UInt64 = 8 << 20
    private static let tries = 5
    private static let emptyHash = S3Signature.hexadecimal(SHA256.hash(data: Data()))

    /// Opens a bucket, without a request.
    ///
    /// - Parameter clock: seconds since 1970.
    init(
        bucket: String, prefix: String, endpoint: String?, region: String?, profile: String?,
        environment: [String: String], clock: @escaping @Sendable () -> Int64 = { Int64(Glibc.time(nil)) }
    ) throws(ObjectStoreError) {
        address = "s3://\(bucket)/\(prefix)"
        let settings = try S3Settings(environment, profile: profile)
        guard let credentials = settings.credentials else { throw ObjectStoreError(.noCredentials, "open \(address)") }
        self.credentials = Locked(credentials)
        self.environment = environment
        self.profile = profile
        self.prefix = prefix
        self.clock = clock
        self.region = region ?? settings.region ?? "us-east-1"
        guard self.region.utf8.allSatisfy(ObjectName.isAllowed) else {
            throw ObjectStoreError(.badAddress, "open \(address)", "'\(self.region)' is no region")
        }
        client = HTTPClient(certificates: settings.certificates)
        if let endpoint = endpoint ?? settings.endpoint {
            let (scheme, host, path) = try S3Store.parsed(endpoint)
            base = Base(scheme: scheme, host: host, path: "\(path)/\(bucket)")
        } else if bucket.contains(".") {
            // A wildcard certificate does not cover such a name.
            base = Base(scheme: "https", host: "s3.\(self.region).amazonaws.com", path: "/\(bucket)")
        } else {
            base = Base(scheme: "https", host: "\(bucket).s3.\(self.region).amazonaws.com", path: "")
        }
    }

    private static func parsed(_ endpoint: String) throws(ObjectStoreError) -> (
        scheme: String, host: String, path: String
    ) {
        for scheme in ["https", "http"] where endpoint.hasPrefix("\(scheme)://") {
            let rest = endpoint.dropFirst(scheme.count + 3)
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            var host = String(rest[..<slash])
            var path = String(rest[slash...])
            while path.hasSuffix("/") { path.removeLast() }
            let port = scheme == "https" ? ":443" : ":80"
            // As in the header that is signed: the usual port is left out.
            if host.hasSuffix(port) { host.removeLast(port.count) }
            guard !host.isEmpty, host.utf8.allSatisfy({ ObjectName.isAllowed($0) || ":[]".utf8.contains($0) }),
                path.utf8.allSatisfy({ ObjectName.isAllowed($0) || $0 == UInt8(ascii: "/") })
            else { break }
            return (scheme, host, path)
        }
        throw ObjectStoreError(
            .badAddress, "use the endpoint of S3", "write https:// or http://, the host, and perhaps a port and a path")
    }

    // MARK: ObjectStore

    package var refusesToOverwrite: Bool { demands.withLock { !$0.noConditions } }

    package func put(_ name: ObjectName, from source: any ObjectSource) throws(ObjectStoreError) -> PutOutcome {
        let operation = naming("write", name, "to")
        try closing.check(operation)
        guard source.length <= S3Store.objectLimit else {
            throw ObjectStoreError(.tooLarge, operation, "an object has at most \(S3Store.objectLimit >> 30) GiB")
        }
        let hash = try hashing.withLock { (_) throws(ObjectStoreError) in
            S3Signature.hexadecimal(try S3Store.digest(SHA256(), of: source, operation))
        }
        var md5: String?
        return try retrying(operation) { (number) throws(ObjectStoreError) in
            // An earlier try may have succeeded. Then the object is not sent again, if it may be looked for.
            if number > 0, source.length > 1 << 20, (try? isThere(name, operation)) == true { return .exists }
            let demands = demands.withLock { $0 }
            if demands.noConditions, try find(name, operation) != nil { return .exists }
            var headers = demands.noConditions ? [:] : ["if-none-match": "*"]
            if demands.md5 {
                if md5 == nil {
                    md5 = Data(try S3Store.digest(Insecure.MD5(), of: source, operation)).base64EncodedString()
                }
                headers["content-md5"] = md5
            }
            let answer = try send("PUT", name.text, headers: headers, body: source, payload: hash, operation)
            switch answer.status {
            case 200, 201, 204: return .created
            case 412, 304:
                // Ceph also refuses both of two requests that create an object at the same time, and then has none.
                if let found = try? isThere(name, operation), !found {
                    throw ObjectStoreError(.busy, operation, "another request creates the object")
                }
                return .exists
            default:
                let error = ObjectStoreError(answer, operation)
                if error.code == .notSupported, !demands.noConditions {
                    self.demands.withLock { $0.noConditions = true }
                } else if !demands.md5, S3Store.demandsMD5(answer) {
                    self.demands.withLock { $0.md5 = true }
                } else {
                    throw error
                }
                throw ObjectStoreError(.busy, operation, error.detail)
            }
        }
    }

    /// Whether a request without `Content-MD5` was refused for that reason.
    ///
    /// AWS: InvalidRequest, "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object
    /// Lock parameters"; others: MissingContentMD5.
    private static func demandsMD5(_ answer: HTTPAnswer) -> Bool {
        guard answer.status == 400 else { return false }
        let xml = S3Answer(answer.body)
        return ["Code", "Message"].contains { part in
            xml.text(part)?.filter { $0 != "-" }.lowercased().contains("contentmd5") == true
        }
    }

    private static func digest<Function: HashFunction>(
        _ function: Function, of source: any ObjectSource, _ operation: String
    ) throws(ObjectStoreError) -> Function.Digest {
        var function = function
        try source.unpaced.forEachPiece(operation) { (piece) throws(ObjectStoreError) in
            piece.withUnsafeBytes { function.update(bufferPointer: $0) }
        }
        return function.finalize()
    }

    package func get(_ name: ObjectName, _ range: Range<UInt64>?) throws(ObjectStoreError) -> [UInt8] {
        let operation = naming("read", name, "from")
        try closing.check(operation)
        if let range, range.isEmpty { return [] }
        if let range, range.upperBound - range.lowerBound > ObjectLimit.bytesInMemory {
            throw ObjectStoreError(.tooLarge, operation)
        }
        let headers = range.map { ["range": "bytes=\($0.lowerBound)-\($0.upperBound - 1)"] } ?? [:]
        return try retrying(operation) { (_) throws(ObjectStoreError) in
            let answer = try send("GET", name.text, headers: headers, limit: ObjectLimit.bytesInMemory, operation)
            switch (answer.status, range) {
            case (200, nil): return answer.body
            // `rclone serve s3` says 200 for a part, too.
            case (let status, let range?) where status == 206 || status == 200 && answer.isPart:
                guard answer.body.count <= range.count,
                    answer.headers["content-range"]?.hasPrefix("bytes \(range.lowerBound)-") != false
                else { throw ObjectStoreError(.unexpectedAnswer, operation, "another range than was asked for") }
                return answer.body
            // The store ignores ranges.
            case (200, let range?):
                let count = UInt64(answer.body.count)
                return Array(answer.body[Int(min(range.lowerBound, count))..<Int(min(range.upperBound, count))])
            case (416, .some): return []
            default: throw ObjectStoreError(answer, operation)
            }
        }
    }

    package func length(of name: ObjectName) throws(ObjectStoreError) -> UInt64? {
        let operation = naming("find", name)
        return try retrying(operation) { (_) throws(ObjectStoreError) in try find(name, operation) }
    }

    private func isThere(_ name: ObjectName, _ operation: String) throws(ObjectStoreError) -> Bool {
        try find(name, operation) != nil
    }

    /// The length of an object.
    ///
    /// The answer to HEAD has no body, so a GET tells why it failed.
    private func find(_ name: ObjectName, _ operation: String) throws(ObjectStoreError) -> UInt64? {
        let head = try send("HEAD", name.text, operation)
        if head.status == 200, let length = head.headers["content-length"].flatMap({ UInt64($0) }) { return length }
        let answer = try send("GET", name.text, headers: ["range": "bytes=0-0"], limit: S3Store.pageLimit, operation)
        switch answer.status {
        case 200 where !answer.isPart: return UInt64(answer.body.count)
        case 200, 206, 416:
            guard let total = answer.headers["content-range"]?.split(separator: "/").last.flatMap({ UInt64($0) }) else {
                if answer.status == 416 { return 0 }
                throw ObjectStoreError(.unexpectedAnswer, operation, "no Content-Range")
            }
            return total
        default:
            let error = ObjectStoreError(answer, operation)
            if error.code == .noSuchObject { return nil }
            throw error
        }
    }

    package func list(_ prefix: String, _ body: (ObjectEntry) throws -> Void) throws {
        let operation = namingList(prefix)
        try closing.check(operation)
        guard ObjectName.canBegin(prefix) else { return }
        var token: String?
        var last = ""
        repeat {
            var query = [("list-type", "2"), ("prefix", self.prefix + prefix)]
            if let token { query.append(("continuation-token", token)) }
            let answer = try retrying(operation) { (_) throws(ObjectStoreError) in
                let answer = try send("GET", nil, query: query, limit: S3Store.pageLimit, operation)
                guard answer.status == 200 else { throw ObjectStoreError(answer, operation) }
                return answer
            }
            let page = S3Answer(answer.body)
            guard let truncated = page.text("IsTruncated") else {
                throw ObjectStoreError(.unexpectedAnswer, operation, "this is no list of objects")
            }
            for item in page.elements("Contents") {
                guard let key = item.text("Key"), let length = item.text("Size").flatMap({ UInt64($0) }) else {
                    throw ObjectStoreError(.unexpectedAnswer, operation, "an object without a name or a length")
                }
                guard key.hasPrefix(self.prefix), let name = ObjectName(String(key.dropFirst(self.prefix.count))) else {
                    continue
                }
                guard last.utf8.lexicographicallyPrecedes(name.text.utf8) else {
                    throw ObjectStoreError(.unexpectedAnswer, operation, "the list is not in order at \(name)")
                }
                last = name.text
                if name.text.hasPrefix(prefix) { try body(ObjectEntry(name: name, length: length)) }
            }
            let next = page.text("NextContinuationToken")
            if truncated == "true", next == nil || next == token {
                throw ObjectStoreError(.unexpectedAnswer, operation, "the list does not go on")
            }
            token = truncated == "true" ? next : nil
        } while token != nil
    }

    package func delete(_ name: ObjectName) throws(ObjectStoreError) {
        let operation = naming("delete", name, "from")
        try retrying(operation) { (_) throws(ObjectStoreError) in
            let answer = try send("DELETE", name.text, operation)
            if [200, 202, 204].contains(answer.status) { return }
            let error = ObjectStoreError(answer, operation)
            if error.code != .noSuchObject { throw error }
        }
    }

    package func close() { closing.close() }

    // MARK: Requests

    private func send(
        _ method: String, _ name: String?, query: [(name: String, value: String)] = [],
        headers: [String: String] = [:], body: (any ObjectSource)? = nil, payload: String = emptyHash,
        limit: UInt64 = 64 << 10, _ operation: String
    ) throws(ObjectStoreError) -> HTTPAnswer {
        let credentials = credentials.withLock { $0 }
        let signature = S3Signature(credentials: credentials, region: region, time: clock())
        let path = base.path + "/" + S3Signature.encoded(name.map { prefix + $0 } ?? "", keepingSlashes: true)
        var headers = headers
        headers["host"] = base.host
        headers["x-amz-date"] = signature.timestamp
        headers["x-amz-content-sha256"] = payload
        if let token = credentials.token { headers["x-amz-security-token"] = token }
        headers["authorization"] = signature.authorization(
            method: method, path: path, query: query, headers: headers, payload: payload)
        let text = S3Signature.text(query)
        let request = HTTPRequest(
            method: method, url: "\(base.scheme)://\(base.host)\(path)\(text.isEmpty ? "" : "?\(text)")",
            headers: headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } + ["User-Agent: archiver"],
            body: body, answerLimit: limit)
        return try client.perform(request, closing, operation)
    }

    /// Repeats `body` while it fails for a moment, with growing pauses, and once with new credentials.
    private func retrying<Result>(
        _ operation: String, _ body: (_ number: Int) throws(ObjectStoreError) -> Result
    ) throws(ObjectStoreError) -> Result {
        var hasNewCredentials = false
        var number = 0
        while true {
            do throws(ObjectStoreError) { return try body(number) } catch {
                switch error.code {
                case .unreachable, .busy:
                    number += 1
                    guard number < S3Store.tries else { throw error }
                    // 0.1 s to 0.2 s, then twice as long each time; the chance keeps machines apart.
                    try closing.pause(.milliseconds(100 << (number - 1)) * Double.random(in: 1...2), operation)
                case .wrongCredentials where !hasNewCredentials && renewCredentials():
                    hasNewCredentials = true
                default: throw error
                }
            }
        }
    }

    /// Reads the files in `~/.aws` again, which a tool may have written since; false if nothing is new.
    private func renewCredentials() -> Bool {
        guard let found = (try? S3Settings(environment, profile: profile))?.credentials else { return false }
        return credentials.withLock { credentials in
            if credentials == found { return false }
            credentials = found
            return true
        }
    }
}

extension HTTPAnswer {
    /// Whether the body is only a part of the object.
    fileprivate var isPart: Bool { headers["content-range"] != nil }
}
