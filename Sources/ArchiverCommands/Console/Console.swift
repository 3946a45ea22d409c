// The output of a command: data on stdout, everything else on stderr.

internal import Glibc

/// The output streams and the form of the output.
struct Console: Sendable {
    let output = Output.standard
    let error = Output.error
    /// Whether to print JSON instead of text.
    let isJSON: Bool
    /// Whether to print only results and errors.
    let isQuiet: Bool
    /// Whether to print more details.
    let isVerbose: Bool
    /// The style of text on stdout.
    let style: Style
    /// Whether output has the form for a person: on a terminal, also in a pipe such as `archiver list | tail`.
    let isForPerson: Bool
    /// The width of tables; nil for no limit, as in a pipe, where nothing may be lost to grep(1).
    let columns: Int?

    init(_ options: GlobalOptions) {
        isJSON = options.json
        isQuiet = options.quiet
        isVerbose = options.verbose
        style = Style(
            isOn: output.isTerminal && !options.noColor && Console.environment("NO_COLOR") == nil
                && Console.environment("TERM") != "dumb")
        switch options.format {
        case .table: isForPerson = !isJSON
        case .lines: isForPerson = false
        case nil: isForPerson = (output.isTerminal || error.isTerminal) && !isJSON
        }
        columns = output.columns ?? Console.environment("COLUMNS").flatMap { Int($0) }
    }

    /// Whether a list without `--limit` shows only as many rows as a person reads.
    var isShortened: Bool { isForPerson && output.isTerminal }

    /// A sentence, wrapped at blanks if a person reads it.
    func wrapped(_ text: String) -> String {
        guard isForPerson, let columns else { return text }
        return TextWrap.wrapped(text, to: columns)
    }

    /// Prints the result of a command that changes something, unless `--quiet` is given.
    func summary(_ text: @autoclosure () throws -> String) throws {
        if !isQuiet { try output.line(try text()) }
    }

    /// Prints a remark on stderr, unless `--quiet` is given.
    func remark(_ text: String) {
        guard !isQuiet else { return }
        warn(text)
    }

    /// Prints a problem on stderr, even with `--quiet`.
    func warn(_ text: String) {
        // A closed stderr is ignored.
        try? error.line(text)
        try? error.flush()
    }

    /// Prints at most `limit` problems, one per line, and how many more there are.
    func warn<Item>(_ items: [Item], count: Int, limit: Int = 10, _ text: (Item) -> String) {
        let shown = items.prefix(limit)
        for item in shown { warn("archiver: " + text(item)) }
        if count > shown.count { warn("archiver: and \(count - shown.count) more") }
    }

    /// A variable's value; nil if it is not set or empty (no-color.org treats an empty NO_COLOR as unset).
    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
