// Access control: a client needs a token that this process has issued.

internal import FileIO
internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import SystemPackage
internal import Threading

/// The secrets of one server.
///
/// Every user and every page on the machine can reach the loopback interface. A token in the URL's fragment, which no
/// request transmits, is exchanged once for a session. A ticket, which permits only reading, is part of the URLs of
/// pictures and downloads.
final class Access: Sendable {
    private struct State {
        var tokens: Set<String> = []
        var port: Int?
        /// The process's umask while it is replaced.
        var mask: mode_t?
    }

    private let state = Locked(State())
    private let key: SessionKey
    let ticket: String

    init(_ key: SessionKey = SessionKey()) {
        self.key = key
        ticket = key.sign("ticket")
    }

    private static func newSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<4).map { _ in generator.next() as UInt64 }
        return words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Returns a new token, which opens one session.
    func newToken() -> String {
        let token = Access.newSecret()
        state.withLock { _ = $0.tokens.insert(token) }
        return token
    }

    /// Opens a session; returns nil if the token is invalid or was used.
    func session(for token: String) -> String? {
        guard state.withLock({ $0.tokens.remove(token) != nil }) else { return nil }
        return key.sign(Access.sessionPrefix + Access.newSecret())
    }

    func isSession(_ session: String) -> Bool {
        session.hasPrefix(Access.sessionPrefix) && key.isSigned(session)
    }

    private static let sessionPrefix = "session-"

    /// Throws unless a request has an open session or, if accepted, reads with the ticket.
    func check(_ request: Request, acceptsTicket: Bool) throws(Refusal) {
        if let session = request.headers[.session], isSession(session) { return }
        if acceptsTicket, request.method == .get, let query = try? Query(request), query["ticket"] == ticket { return }
        throw Refusal(401, "noSession", "this page has no session", remedy: "run 'archiver browse' again")
    }

    /// Sets the port of the server.
    func serve(port: Int) { state.withLock { $0.port = port } }

    /// Makes new files accessible to their owner only (umask(2)).
    func hide() { state.withLock { $0.mask = umask(0o077) } }

    /// Restores the umask, once the socket exists.
    func show(_ socket: FilePath) {
        _ = socket.withPlatformString { chmod($0, 0o600) }
        state.withLock { state in
            if let mask = state.mask { umask(mask) }
            state.mask = nil
        }
    }

    /// Whether `Host` names this server; if not, another site's page may have pointed its own name here (DNS
    /// rebinding).
    func isOwnHost(_ host: String?, _ place: TimelineServerOptions.Place) -> Bool {
        guard let host else { return false }
        guard case .port = place else { return host == "localhost" || host.hasPrefix("localhost:") }
        guard let port = state.withLock({ $0.port }) else { return false }
        return host == "127.0.0.1:\(port)" || host == "localhost:\(port)"
    }
}

/// Admits the requests of this server's own page, and adds the security headers to every response.
///
/// Only ``needsSession(_:_:)`` lists what is answered without a session. The routes check again (``SessionMiddleware``).
struct AccessMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let access: Access
    let place: TimelineServerOptions.Place
    let log: RequestLog

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response: Response
        do {
            try check(request)
            response = try await next(request, context)
            log.add(request, response.status, since: start)
        } catch {
            response = ErrorAnswer.response(error)
            log.add(request, response.status, since: start, error)
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        response.headers[.referrerPolicy] = "no-referrer"
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = AccessMiddleware.policy
        }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self'; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// Throws unless the request is for this server, at a plain path, and has a session if it needs one.
    private func check(_ request: Request) throws(Refusal) {
        let host = request.head.authority
        // A second Host header is an ordinary field.
        guard access.isOwnHost(host, place), request.headers[.host] == nil else {
            throw Refusal(421, "misdirected", "this is not the server of \(host ?? "that page")")
        }
        let path = try AccessMiddleware.plainPath(of: request)
        if request.method == .post { try checkOrigin(request, host ?? "") }
        if AccessMiddleware.needsSession(request.method, path) { try access.check(request, acceptsTicket: true) }
    }

    /// Returns the path of a request; throws if a router or a browser could read it as another path.
    private static func plainPath(of request: Request) throws(Refusal) -> String {
        let target = request.head.path ?? ""
        let path = String(target.prefix { $0 != "?" })
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        let isPlain = names.allSatisfy { name in
            let isDots = name.allSatisfy { $0 == UInt8(ascii: ".") }
            return !isDots && name.allSatisfy { plainBytes.contains($0) }
        }
        guard path == "/" || path.hasPrefix("/") && isPlain, path == request.uri.path else {
            throw Refusal.bad("the path may have letters, digits, '-', '_' and '.', and no empty part")
        }
        return path
    }

    private static let plainBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)

    /// Whether a request needs a session: all do, except those that open the page.
    private static func needsSession(_ method: HTTPRequest.Method, _ path: String) -> Bool {
        switch method {
        case .get: path != "/" && PageFiles.all[String(path.dropFirst())] == nil
        case .post: path != SessionRoutes.path
        default: true
        }
    }

    /// Rejects requests that another page may have sent.
    private func checkOrigin(_ request: Request, _ host: String) throws(Refusal) {
        guard request.headers[.origin] == "http://\(host)",
            request.headers[.secFetchSite].map({ $0 == "same-origin" }) ?? true
        else { throw Refusal(403, "origin", "only the server's own page may send this request") }
        guard request.headers[.contentType].map({ $0.hasPrefix("application/json") }) ?? false else {
            throw Refusal(415, "contentType", "the body must be application/json")
        }
    }
}

/// Admits only requests with a session or, if `acceptsTicket`, reading requests with the ticket.
///
/// It belongs to a group of routes, so it does not depend on how the path of a request is written.
struct SessionMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let access: Access
    let acceptsTicket: Bool

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try access.check(request, acceptsTicket: acceptsTicket)
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    static let host = literal("Host")
    static let session = literal("X-Archiver-Session")
    static let secFetchSite = literal("Sec-Fetch-Site")
    static let crossOriginResourcePolicy = literal("Cross-Origin-Resource-Policy")
    static let referrerPolicy = literal("Referrer-Policy")
    static let xContentTypeOptions = literal("X-Content-Type-Options")
    static let contentSecurityPolicy = literal("Content-Security-Policy")

    /// Returns a header name.
    ///
    /// - Parameter name: letters and hyphens only, so that it is valid.
    private static func literal(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }
}
