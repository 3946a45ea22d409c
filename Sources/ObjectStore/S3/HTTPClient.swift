// HTTP requests that block, by libcurl, which is loaded while the program runs.

internal import CCurl
internal import Dispatch
internal import Glibc
internal import Threading

/// A request to a server.
struct HTTPRequest {
    var method: String
    var url: String
    /// "name: value".
    var headers: [String] = []
    var body: (any ObjectSource)?
    /// The longest answer in bytes.
    var answerLimit: UInt64
}

struct HTTPAnswer {
    let status: Int
    /// The values by names in lower case.
    let headers: [String: String]
    let body: [UInt8]
}

/// Connections to one server; each is used by one request at a time, and then kept for the next.
final class HTTPClient: Sendable {
    /// The idle connections, which are pointers.
    private let idle = Locked<[UInt]>([])
    private let certificates: String?

    /// How many requests may run now.
    private let turns = DispatchSemaphore(value: HTTPClient.mostConnections)

    private static let mostConnections = 16

    /// - Parameter certificates: a file with the certificates to trust; nil for the system's.
    init(certificates: String?) { self.certificates = certificates }

    deinit {
        for connection in idle.withLock({ $0 }) { ccurl_close(UnsafeMutableRawPointer(bitPattern: connection)) }
    }

    /// Sends a request and waits for the answer.
    func perform(
        _ request: HTTPRequest, _ closing: StoreClosing, _ operation: String
    ) throws(ObjectStoreError) -> HTTPAnswer {
        guard ccurl_is_available() != 0 else {
            throw ObjectStoreError(.notSupported, operation, "the library libcurl is not installed (package libcurl4)")
        }
        turns.wait()
        defer { turns.signal() }
        try closing.check(operation)
        let kept = idle.withLock { $0.popLast() }.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
        guard let connection = kept ?? ccurl_open() else { throw ObjectStoreError(.failed, operation, "out of memory") }
        let exchange = Exchange(request, closing, operation)
        let (outcome, status, message) = send(request, exchange, connection)
        if outcome == CCURL_ANSWERED {
            idle.withLock { $0.append(UInt(bitPattern: connection)) }
        } else {
            ccurl_close(connection)
        }
        switch outcome {
        case CCURL_ANSWERED: return HTTPAnswer(status: status, headers: exchange.headers, body: exchange.body)
        case CCURL_UNTRUSTED: throw ObjectStoreError(.tlsFailed, operation, message)
        case CCURL_BAD_ADDRESS: throw ObjectStoreError(.badAddress, operation, message)
        case CCURL_NO_HTTP: throw ObjectStoreError(.unexpectedAnswer, operation, message)
        case CCURL_ENDED:
            try closing.check(operation)
            throw exchange.failure ?? ObjectStoreError(.unreachable, operation, message)
        default:
            try closing.check(operation)
            throw exchange.failure ?? ObjectStoreError(.unreachable, operation, message)
        }
    }

    private func send(
        _ request: HTTPRequest, _ exchange: Exchange, _ connection: UnsafeMutableRawPointer
    ) -> (ccurl_outcome, status: Int, message: String) {
        var status = 0
        var message = [CChar](repeating: 0, count: Int(CCURL_MESSAGE))
        let lines = (request.headers + ["Expect:", "Accept:", "Content-Type:"]).map { strdup($0) }
        defer { for line in lines { free(line) } }
        let outcome = request.url.withCString { url in
            request.method.withCString { method in
                (certificates ?? "").withCString { certificates in
                    lines.map { UnsafePointer($0) }.withUnsafeBufferPointer { headers in
                        var raw = ccurl_request()
                        raw.url = url
                        raw.method = method
                        raw.headers = headers.baseAddress
                        raw.header_count = Int32(lines.count)
                        raw.certificates = self.certificates == nil ? nil : certificates
                        raw.upload_length = request.body.map { Int64(clamping: $0.length) } ?? -1
                        raw.connect_milliseconds = 15_000
                        raw.idle_seconds = 30
                        raw.context = Unmanaged.passUnretained(exchange).toOpaque()
                        raw.read = { Exchange.of($0).read($1, $2) }
                        raw.seek = { Exchange.of($0).seek($1) ? 1 : 0 }
                        raw.write = { Exchange.of($0).write($1, $2) ? 1 : 0 }
                        raw.header = { Exchange.of($0).header($1, $2) }
                        raw.is_wanted = { Exchange.of($0).isWanted ? 1 : 0 }
                        return withExtendedLifetime(exchange) { ccurl_perform(connection, &raw, &status, &message) }
                    }
                }
            }
        }
        return (
            outcome, status, String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        )
    }
}

/// What is sent and received by one request; only its thread uses it.
private final class Exchange {
    private let request: HTTPRequest
    private let closing: StoreClosing
    private let operation: String
    private var position: UInt64 = 0
    private var piece: [UInt8] = []
    private var pieceStart: UInt64 = 0
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Why a callback ended the request.
    var failure: ObjectStoreError?

    private static let headerLimit = 100
    /// What an answer gets at once, before any of it is there: as much as parts of segments have.
    private static let mostReservedBytes: UInt64 = 8 << 20

    init(_ request: HTTPRequest, _ closing: StoreClosing, _ operation: String) {
        (self.request, self.closing, self.operation) = (request, closing, operation)
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Exchange {
        guard let context else { preconditionFailure("a callback of libcurl without its context") }
        return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    }

    var isWanted: Bool { !closing.isClosed }

    func read(_ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
        guard let source = request.body, let buffer, isWanted else { return -1 }
        let left = source.length - min(source.length, position)
        if left == 0 { return 0 }
        if position < pieceStart || position >= pieceStart + UInt64(piece.count) {
            do throws(ObjectStoreError) {
                piece = try source.piece(position..<position + min(left, source.pieceBytes), operation)
                pieceStart = position
            } catch {
                failure = error
                return -1
            }
        }
        let offset = Int(position - pieceStart)
        let count = min(capacity, piece.count - offset)
        piece.withUnsafeBytes { bytes in
            UnsafeMutableRawPointer(buffer).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[offset...]).baseAddress ?? UnsafeRawPointer(buffer),
                byteCount: count)
        }
        position += UInt64(count)
        return count
    }

    func seek(_ offset: Int64) -> Bool {
        guard offset >= 0 else { return false }
        position = UInt64(offset)
        return true
    }

    func write(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Bool {
        guard isWanted else { return false }
        guard UInt64(body.count + count) <= request.answerLimit else {
            failure = ObjectStoreError(.tooLarge, operation, "the answer has more than \(request.answerLimit) bytes")
            return false
        }
        body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return true
    }

    func header(_ line: UnsafePointer<CChar>?, _ count: Int) {
        let text = String(decoding: UnsafeRawBufferPointer(start: line, count: count), as: UTF8.self)
        // An answer may be preceded by others, such as 100 Continue.
        if text.hasPrefix("HTTP/") {
            headers = [:]
            body = []
        }
        guard headers.count < Exchange.headerLimit, let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let name = text[..<colon].lowercased()
        headers[name] = String(value.prefix { !$0.isNewline })
        if name == "content-length", let length = headers[name].flatMap({ UInt64($0) }) {
            body.reserveCapacity(Int(min(length, request.answerLimit, Exchange.mostReservedBytes)))
        }
    }
}
