// How a command talks to whoever called it: data on stdout, everything else on stderr.

internal import Glibc

/// The two streams and how to write on them.
struct Console: Sendable {
    let output = Output.standard
    let error = Output.error
    /// One JSON value instead of text.
    let isJSON: Bool
    /// Nothing but what was asked for, and errors.
    let isQuiet: Bool
    /// More on stderr.
    let isVerbose: Bool
    /// How to mark text on stdout.
    let style: Style

    init(_ options: GlobalOptions) {
        isJSON = options.json
        isQuiet = options.quiet
        isVerbose = options.verbose
        style = Style(
            isOn: output.isTerminal && !options.noColor && Console.environment("NO_COLOR") == nil
                && Console.environment("TERM") != "dumb")
    }

    /// Whether stdout shows to a person, and not to a program.
    var isForPerson: Bool { output.isTerminal && !isJSON }

    /// What a command that alters something came to, unless nobody wants to know.
    func summary(_ text: @autoclosure () throws -> String) throws {
        if !isQuiet { try output.line(try text()) }
    }

    /// A word to the person at the terminal, unless they want none.
    func remark(_ text: String) {
        guard !isQuiet else { return }
        warn(text)
    }

    /// A problem: shown even to those who want quiet.
    func warn(_ text: String) {
        // Where stderr is closed nobody wants to know.
        try? error.line(text)
        try? error.flush()
    }

    /// Problems, each on a line, at most `limit` of them and how many more there are.
    func warn<Item>(_ items: [Item], count: Int, limit: Int = 10, _ text: (Item) -> String) {
        let shown = items.prefix(limit)
        for item in shown { warn("archiver: " + text(item)) }
        if count > shown.count { warn("archiver: and \(count - shown.count) more") }
    }

    /// A variable's value; nil where it is not set or empty (no-color.org counts an empty NO_COLOR as unset).
    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
