// Serves the timeline of an archive as a web page, on the loopback interface or a UNIX socket.

package import ArchiverKit
internal import FileIO
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
package import SystemPackage

/// How the page is served.
package struct TimelineServerOptions: Sendable {
    /// Where it is served.
    package enum Place: Sendable {
        /// On 127.0.0.1; 0 for any free port.
        case port(Int)
        /// On a UNIX socket, which only its owner can open.
        case socket(FilePath)
    }

    package var place: Place = .port(0)
    /// Whether the page is read-only.
    package var isReadOnly = false
    /// The root that is shown first.
    package var root: ArchivedRoot?
    /// The file with the key of sessions, which then outlive the server; nil for sessions that end with it.
    package var sessionKeyFile: FilePath?
    /// Gets a line when the page can be opened, per change and refusal, and, at the level `debug`, per request.
    package var logger = Logger(label: "archiver.timeline", factory: { _ in SwiftLogNoOpLogHandler() })
    /// How long a connection may take to send a whole request, or stay open without one.
    var patience: TimeAmount = .seconds(10)
    /// The most open connections, so that others wait; nil for a part of the files that the process may open.
    var connectionLimit: Int?
    /// The most snapshots for which the page counts what takes the space.
    var usageLimit = 50_000
    /// For tests.
    var searchHooks = SearchHooks()
    /// For tests: called when a stream of events has begun to read the state of the archive.
    var onStream: @Sendable () -> Void = {}

    package init() {}
}

/// Serves the page until the task that runs it is cancelled.
package struct TimelineServer: Sendable {
    private let archive: Archive
    private let options: TimelineServerOptions
    let access: Access

    /// The longest body of a request, in bytes.
    static let bodyLimit = 256 << 10

    package init(_ archive: Archive, _ options: TimelineServerOptions = TimelineServerOptions()) {
        self.archive = archive
        self.options = options
        access = Access(options.sessionKeyFile.map { SessionKey(in: $0) } ?? SessionKey())
    }

    /// Serves the page.
    ///
    /// - Parameter onReady: called once the page can be opened, with a function that returns its URL: each one contains
    ///   another token, which opens one session.
    /// - Throws: the system's error if it cannot be served.
    package func run(onReady: @escaping @Sendable (_ newAddress: @escaping @Sendable () -> String) async -> Void)
        async throws
    {
        let context = ServerContext(archive, options, access)
        let router = Router(context: BasicRequestContext.self)
        TimelineServer.addRoutes(to: router, context)
        // Hummingbird's own lines are about connections that break off.
        var logger = Logger(label: "archiver.timeline")
        logger.logLevel = .critical
        let limit = connectionLimit
        let strangers = Strangers(limit: max(1, limit / 2))
        let app = Application(
            router: router,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [RequestDeadline(strangers, access, options.patience)])),
            configuration: ApplicationConfiguration(
                address: address, serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(limit, logger: logger)),
            onServerRunning: { [access, options] channel in
                options.logger.info("served", metadata: ["readOnly": "\(options.isReadOnly)"])
                switch options.place {
                case .socket(let path):
                    access.show(path)
                    await onReady { "http://localhost/#token=\(access.newToken()) (socket \(path))" }
                case .port(let port):
                    let port = channel.localAddress?.port ?? port
                    access.serve(port: port)
                    await onReady { "http://127.0.0.1:\(port)/#token=\(access.newToken())" }
                }
            }, logger: logger)
        // Without this, other users could open the socket before its permissions are set.
        if case .socket = options.place { access.hide() }
        async let prepared: Void = context.prepare()
        // It is cancelled at the end.
        async let _: Void = context.releaseMemoryPeriodically()
        do { try await app.run() } catch {
            context.end()
            throw error
        }
        context.end()
        await prepared
    }

    /// Adds all routes and what guards them.
    static func addRoutes(to router: some RouterMethods<BasicRequestContext>, _ context: ServerContext) {
        let log = RequestLog(context.options.logger)
        _ = router.add(middleware: AccessMiddleware(access: context.access, place: context.options.place, log: log))
        PageRoutes().add(to: router)
        SessionRoutes(context: context).add(to: router.group("/api/1"))
        func group(acceptsTicket: Bool) -> RouterGroup<BasicRequestContext> {
            let check = SessionMiddleware(access: context.access, acceptsTicket: acceptsTicket)
            return router.group("/api/1").add(middleware: check)
        }
        // Pictures and downloads are opened by their URLs, without headers.
        ContentRoutes(context: context).add(to: group(acceptsTicket: true))
        let api = group(acceptsTicket: false)
        HistoryRoutes(context: context).add(to: api)
        TreeRoutes(context: context).add(to: api)
        TextRoutes(context: context).add(to: api)
        SearchRoutes(context: context).add(to: api)
        DeletedRoutes(context: context).add(to: api)
        StateRoutes(context: context).add(to: api)
        RestoreRoutes(context: context).add(to: api)
        EventRoutes(context: context).add(to: api)
    }

    /// Reading the archive needs open files, too.
    private var connectionLimit: Int {
        options.connectionLimit ?? Int(min(max(CurrentProcess.raiseOpenFileLimit() / 4, 16), 512))
    }

    private var address: BindAddress {
        switch options.place {
        case .port(let port): .hostname("127.0.0.1", port: port)
        case .socket(let path): .unixDomainSocket(path: path.string)
        }
    }
}

struct PageRoutes {
    func add(to router: some RouterMethods<BasicRequestContext>) {
        router.get("/") { _, _ in try PageRoutes.file("index.html") }
        router.get("/:file") { _, route in try PageRoutes.file(route.parameters.require("file")) }
    }

    private static func file(_ name: String) throws -> Response {
        guard let bytes = PageFiles.all[name] else { throw Refusal.notFound("there is no page '\(name)'") }
        return Response(
            status: .ok, headers: [.contentType: kind(of: name), .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func kind(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/json; charset=utf-8"
        }
    }
}
