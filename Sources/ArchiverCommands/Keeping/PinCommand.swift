// `archiver pin` and `archiver unpin`: protect snapshots and states from thinning and forgetting.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "pin",
        abstract: "Protect a snapshot or saved state from thinning, or list the pins.",
        discussion: """
            A pinned snapshot is never thinned out and cannot be forgotten until it is unpinned. A label also \
            protects from thinning. Without a selector, the command lists the pins, with --root those of one root. In \
            a pipe the columns are separated by tabs: id, time, end, reason.

            Examples:
              archiver pin latest --reason "sent to the printer"
              archiver pin @monday --expires 1y
              archiver pin
            """)

    @Argument(
        help: ArgumentHelp("A snapshot or a saved state (id, latest, @10m, label).", valueName: "selector"),
        completion: .selector)
    var selector: ByteArgument?

    @Option(help: ArgumentHelp("End the pin after a span or at a time: 30d, 1y, 2027-01-31.", valueName: "time"))
    var expires: TimeArgument?

    @Option(help: ArgumentHelp("The reason, shown in lists.", valueName: "text"))
    var reason: String?

    @OptionGroup var window: WindowOptions
    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if selector != nil, window.isGiven {
            throw ValidationError(
                "-n, --since and --until are for listing pins: leave out the snapshot, or these options")
        }
    }

    func run() throws {
        let console = Console(global)
        let context = try RootContext(global.openArchive(), place)
        guard let selector else { return try list(context, console) }
        let selected = try context.whole(selector, titled: state)
        // What is not given again stays.
        let former = try context.archive.pin(of: selected)
        let pin = try context.archive.pin(
            selected, until: try expires.map(PinCommand.end) ?? former?.until, reason: reason ?? former?.reason)
        if console.isJSON { return try console.output.line(JSONText.of(PinJSON(pin))) }
        try console.summary("pinned \(selected.name)" + (pin.until.map { " until \(LocalTime.text($0))" } ?? ""))
    }

    private func list(_ context: RootContext, _ console: Console) throws {
        if expires != nil || reason != nil {
            throw Failure.usage("no snapshot is named", remedy: "name the snapshot to pin, such as 'latest'")
        }
        let period = try window.period()
        var pins = try context.archive.pins().filter { period.contains($0.time) }
        if context.isExplicit {
            pins = try pins.filter { try isOf(context.root, $0, context.archive) }
        }
        try PinList.listing.write(window.last(pins), console)
    }

    /// Whether a snapshot of `root` is pinned, not one of another root, or a state.
    private func isOf(_ root: ArchivedRoot?, _ pin: Pin, _ archive: Archive) throws -> Bool {
        do throws(ArchiverError) {
            return try archive.snapshot(SnapshotSelector(id: pin.target)).root == root
        } catch {
            guard error.code == .noSuchSnapshot else { throw error }
            return false
        }
    }

    /// The end of a pin: a span from now, or a time.
    static func end(_ time: TimeArgument) throws -> Timestamp {
        guard let span = SpanArgument(argument: time.text) else {
            let end = try time.end()
            if end <= .now {
                throw Failure.usage(
                    "'\(time.text)' is in the past", remedy: "name a time in the future, or a span: 30d")
            }
            return end
        }
        guard let seconds = span.seconds else {
            throw Failure.usage("a pin without an end needs no --expires", remedy: "leave out --expires")
        }
        return Timestamp.now.advanced(byNanoseconds: Int64(clamping: seconds.multipliedOrMost(by: 1_000_000_000)))
    }
}

struct UnpinCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "unpin",
        abstract: "Remove the pin of a snapshot or saved state.",
        discussion: """
            Afterwards the policy decides whether it is kept.

            Examples:
              archiver unpin 3fa9c2
            """)

    @Argument(
        help: ArgumentHelp("A snapshot or a saved state (id, latest, @10m, label).", valueName: "selector"),
        completion: .selector)
    var selector: ByteArgument

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let context = try RootContext(global.openArchive(), place)
        let selected = try context.whole(selector, titled: state)
        try context.archive.unpin(selected)
        if console.isJSON { return try console.output.line(JSONText.of(UnpinnedJSON(id: selected.id.hex))) }
        try console.summary("unpinned \(selected.name)")
    }
}

extension RootContext {
    /// The snapshot or saved state that `argument` names.
    ///
    /// - Throws: `Failure` if the argument has a path.
    func whole(_ argument: ByteArgument, titled title: String?) throws -> Selection {
        switch try selection(argument, titled: title) {
        case .snapshot(let snapshot, path: nil): return .snapshot(snapshot)
        case .state(let state): return .state(state)
        case .snapshot(_, path: .some):
            throw Failure.usage(
                "this command takes a snapshot without a path", remedy: "leave out the colon and the path")
        }
    }
}

extension UInt64 {
    /// The product, or the largest number on overflow.
    fileprivate func multipliedOrMost(by factor: UInt64) -> UInt64 {
        let (product, isTooMuch) = multipliedReportingOverflow(by: factor)
        return isTooMuch ? .max : product
    }
}
