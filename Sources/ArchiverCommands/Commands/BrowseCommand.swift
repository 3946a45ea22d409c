// `archiver browse`: serves the timeline as a web page.

internal import ArchiveFormat
internal import ArchiverKit
internal import ArgumentParser
internal import Exclusions
internal import FileIO
internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threading
internal import TimelineServer

struct BrowseCommand: LastingCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "browse",
        abstract: "Browse the history in a web browser.",
        discussion: """
            Serves a page on this machine, prints its address and opens it in a browser if there is one. The page has \
            a timeline, files as they were, comparisons, search, restore with a preview, and undo. A watcher can run \
            at the same time, but is not needed. Ctrl-C ends the server.

            The address contains a token that is valid once; Enter prints a new one. The page can be reached only from \
            this machine. To open it from another one, use --socket and 'ssh -L 8080:SOCKET HOST', then open http://localhost:8080 with the \
            same token.

            Examples:
              archiver browse
              archiver browse ~/novel --read-only
            """)

    @Argument(
        help: ArgumentHelp(
            "The root to show first (default: the one that contains the current directory).", valueName: "dir"))
    var directory: PathArgument?

    @Option(help: ArgumentHelp("The port on 127.0.0.1 (default: any free one).", valueName: "port"))
    var port: Int?

    @Option(help: ArgumentHelp("Serve on a UNIX socket instead.", valueName: "path"))
    var socket: PathArgument?

    @Flag(help: "Do not allow changes through the page.")
    var readOnly = false

    @Flag(help: "Do not open a browser.")
    var noOpen = false

    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if port != nil, socket != nil { throw ValidationError("--port and --socket exclude each other") }
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be between 0 and 65535") }
    }

    func run() async throws {
        let console = Console(global)
        let archive = try global.openArchive()
        var options = TimelineServerOptions()
        options.isReadOnly = readOnly
        options.root = try root(in: archive)
        if let port { options.place = .port(port) }
        if let socket { options.place = .socket(try BrowseCommand.free(socket.path)) }
        options.sessionKeyFile = keyFile(of: archive)
        let settings = log.settings
        try settings.requireLogOutside(
            archive.roots().map { ($0.path, try archive.exclusions(ofRoot: $0.path) ?? ExclusionRules()) })
        let logger = EventLog(settings, console).logger
        options.logger = logger
        // No request needs to finish: everything in progress can be interrupted safely.
        let path = socket?.path.string
        let browser = Browser()
        try Signals.observe(Signals.termination) { _, _ in
            if let path { unlink(path) }
            browser.end()
            logger.info("ended")
            Glibc.exit(ExitStatus.interrupted.rawValue)
        }
        let opens = !noOpen && socket == nil && Browser.isThere
        do {
            try await TimelineServer(archive, options).run { newAddress in
                let print = { @Sendable (url: String) in
                    try? console.output.line(console.isJSON ? JSONText.of(["url": url]) : url)
                    try? console.output.flush()
                }
                let url = newAddress()
                print(url)
                if opens { browser.open(url) }
                if Terminal.onEnter({ print(newAddress()) }) {
                    console.remark("Enter prints a new address, Ctrl-C ends.")
                }
            }
        } catch {
            throw Failure(
                status: .failed, code: "notServed", message: "the page cannot be served: \(error)",
                remedy: port == nil ? nil : "name another port, or leave out --port")
        }
    }

    /// The file with the key of the page's sessions; nil if a restarted server would have another address.
    private func keyFile(of archive: Archive) -> FilePath? {
        guard let runtime = getenv("XDG_RUNTIME_DIR").map({ FilePath(platformString: $0) }), runtime.isAbsolute,
            port.map({ $0 > 0 }) ?? false || socket != nil
        else { return nil }
        let place = port.map { "port \($0)" } ?? "socket \(socket?.path.string ?? "")"
        let served = global.archiveAddress ?? archive.directory.string
        let name = ChunkID(hashing: Array("\(served) \(place) \(readOnly ? "read-only" : "")".utf8)).hex
        return runtime.appending("archiver").appending("browse-\(name.prefix(32)).key")
    }

    private func root(in archive: Archive) throws -> ArchivedRoot? {
        if let path = directory?.path {
            return try archive.root(holding: path) ?? RootContext.root(at: path, in: archive)
        }
        return try FilePath.currentDirectory.flatMap { try archive.root(holding: $0) } ?? archive.roots().first
    }

    /// Makes `path` free for a socket: removes a socket that an earlier server left there.
    ///
    /// - Throws: `Failure` if something other than a socket is at `path`.
    private static func free(_ path: FilePath) throws -> FilePath {
        var status = stat()
        guard lstat(path.string, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Failure.usage("\(Escaping.text(path.bytes)) already exists", remedy: "name another --socket")
        }
        unlink(path.string)
        return path
    }
}

/// The terminal in which the server was started.
private enum Terminal {
    /// Calls `body` whenever Enter is pressed.
    ///
    /// - Returns: whether there is a terminal.
    static func onEnter(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard isatty(STDIN_FILENO) == 1 else { return false }
        // A background process that reads would be stopped; so it gets an error, and waits until it is in front.
        signal(SIGTTIN, SIG_IGN)
        let isStarted: Void? = try? DetachedThread.start(for: "the terminal") {
            var bytes = [UInt8](repeating: 0, count: 256)
            while true {
                var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, -1) > 0 else { continue }
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                if count == 0 { return }
                if count > 0 {
                    for byte in bytes[..<count] where byte == UInt8(ascii: "\n") { body() }
                } else if errno == EIO {
                    sleep(1)
                } else if errno != EINTR {
                    return
                }
            }
        }
        return isStarted != nil
    }
}

/// The user's web browser.
///
/// Every user can see the arguments of every process, so the browser's are the path of a file that only its owner can
/// read. The file leads to the page's address, which contains the token.
private final class Browser: Sendable {
    private let file = Locked<String?>(nil)

    /// Whether stdout is a terminal and a display is available to open it on.
    static var isThere: Bool { isatty(STDOUT_FILENO) == 1 && (getenv("DISPLAY") ?? getenv("WAYLAND_DISPLAY")) != nil }

    /// Opens an address; if this fails, the user still has the printed one.
    func open(_ url: String) {
        guard let file = Browser.write(url) else { return }
        self.file.withLock { $0 = file }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("xdg-open"), strdup(file), nil]
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for output in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
        }
        var process: pid_t = 0
        _ = posix_spawnp(&process, "xdg-open", &actions, nil, &arguments, environ)
    }

    /// Removes the file.
    func end() {
        file.withLock { file in
            if let path = file { unlink(path) }
            file = nil
        }
    }

    /// Writes a page that leads to the address, and returns its path.
    private static func write(_ url: String) -> String? {
        let directory = (getenv("XDG_RUNTIME_DIR") ?? getenv("TMPDIR")).map { String(cString: $0) }
        let end = ".html"
        // mkstemps(3) lets only the owner read and write the file.
        var template = Array("\(directory ?? "/tmp")/archiver-browse-XXXXXX\(end)".utf8CString)
        let number = mkstemps(&template, CInt(end.utf8.count))
        guard number >= 0 else { return nil }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do {
            let page = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(url)\">\n"
            try Descriptor(owning: number).write(Array(page.utf8), path: FilePath(path))
            return path
        } catch {
            unlink(path)
            return nil
        }
    }
}
