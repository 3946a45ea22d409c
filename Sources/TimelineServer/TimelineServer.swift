// Serves the timeline of an archive as a web page, on the loopback interface or a UNIX socket.

package import ArchiverKit
internal import Hummingbird
internal import Logging
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

    package init() {}
}

/// Serves the page until the task that runs it is cancelled.
package struct TimelineServer: Sendable {
    private let archive: Archive
    private let options: TimelineServerOptions
    private let access: Access

    /// The longest body of a request, in bytes.
    static let bodyLimit = 256 << 10

    package init(_ archive: Archive, _ options: TimelineServerOptions = TimelineServerOptions()) {
        self.archive = archive
        self.options = options
        access = Access()
    }

    /// Serves the page.
    ///
    /// - Parameter onReady: called with the page's URL once it can be opened; the URL contains a token that opens one
    ///   session.
    /// - Throws: the system's error if it cannot be served.
    package func run(onReady: @escaping @Sendable (String) async -> Void) async throws {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: AccessMiddleware(access: access, place: options.place))
        PageRoutes().add(to: router)
        let context = ServerContext(archive, options, access)
        let api = router.group("/api/1")
        SessionRoutes(context: context).add(to: api)
        HistoryRoutes(context: context).add(to: api)
        TreeRoutes(context: context).add(to: api)
        ContentRoutes(context: context).add(to: api)
        TextRoutes(context: context).add(to: api)
        SearchRoutes(context: context).add(to: api)
        StateRoutes(context: context).add(to: api)
        RestoreRoutes(context: context).add(to: api)
        EventRoutes(context: context).add(to: api)
        var logger = Logger(label: "archiver.timeline")
        logger.logLevel = .critical
        let app = Application(
            router: router, configuration: ApplicationConfiguration(address: address, serverName: nil),
            onServerRunning: { [access, options] channel in
                switch options.place {
                case .socket(let path):
                    access.show(path)
                    await onReady("http://localhost/#token=\(access.newToken()) (socket \(path))")
                case .port(let port):
                    let port = channel.localAddress?.port ?? port
                    access.serve(port: port)
                    await onReady("http://127.0.0.1:\(port)/#token=\(access.newToken())")
                }
            }, logger: logger)
        // Without this, other users could open the socket before its permissions are set.
        if case .socket = options.place { access.hide() }
        async let prepared: Void = context.prepare()
        try await app.run()
        await prepared
    }

    private var address: BindAddress {
        switch options.place {
        case .port(let port): .hostname("127.0.0.1", port: port)
        case .socket(let path): .unixDomainSocket(path: path.string)
        }
    }
}
