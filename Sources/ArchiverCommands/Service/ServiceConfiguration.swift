// The configuration as the program uses it: paths resolved, values parsed as the options of the same names are.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import Exclusions
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The option that chooses between the user's configuration and the machine's.
struct SystemOption: ParsableArguments {
    @Flag(help: "Use the machine's configuration, /etc/archiver/config.toml, and its service.")
    var system = false

    /// The configuration file.
    var file: ConfigurationFile {
        get throws(ArchiverError) {
            if system { return .ofSystem }
            guard let file = ConfigurationFile.ofUser else {
                throw ArchiverError(
                    .unsuitableSettings, "there is no home directory to keep the configuration in: $HOME is not set",
                    remedy: "set $HOME, or use --system for the whole machine")
            }
            return file
        }
    }
}

/// A configuration whose values have been checked.
struct ServiceConfiguration: Sendable {
    struct Root: Sendable {
        /// The path, resolved as far as it exists.
        let path: FilePath
        let settings: WatchSettings
        let exclusions: ExclusionRules
        /// Which of its snapshots are kept; nil if the file does not say it.
        let policy: RetentionPolicy?
        let source: ConfigurationDocument.Root
    }

    let document: ConfigurationDocument
    let archive: FilePath?
    let policy: RetentionPolicy?
    let roots: [Root]
    /// Where the service's events go.
    let events: EventSettings
    private let maxSize: LimitArgument?
    private let minFree: FreeArgument?

    /// Reads and checks `file`; without a file, nothing is configured.
    init(_ file: ConfigurationFile) throws(ArchiverError) {
        do { try self.init(file.document()) } catch { throw ArchiverError(error) }
    }

    /// - Throws: `ConfigurationError`, which names the line.
    init(_ document: ConfigurationDocument) throws(ConfigurationError) {
        self.document = document
        let reader = ValueReader(file: document.file)
        archive = try document.top["archive"].map { entry throws(ConfigurationError) in try reader.path(entry) }
        policy = try reader.policy(document.keep)
        maxSize = try reader.value(document.budget?["max-size"], "a size or none", example: "20G") {
            LimitArgument(argument: $0)
        }
        minFree = try reader.value(document.budget?["min-free"], "a size or a percentage", example: "10%") {
            FreeArgument(argument: $0)
        }
        var roots: [Root] = []
        for source in document.roots { roots.append(try reader.root(source)) }
        self.roots = roots
        events = try reader.events(document.top)
        try requireSeparateRoots()
        if let root = events.root(watchingLog: roots.map { ($0.path, $0.exclusions) }) {
            throw ConfigurationError(
                document.file, line: document.top["log-file"]?.line,
                "the log file is inside the root \(root.string), so each line would cause the next one",
                remedy: "write it elsewhere, or exclude its directory")
        }
    }

    /// The space limits, with those of `present` that the file does not name; nil if it names none.
    func budget(_ present: StorageBudget) -> StorageBudget? {
        if maxSize == nil, minFree == nil { return nil }
        var budget = present
        if let maxSize { budget.maxSize = maxSize.bytes }
        if let minFree { (budget.minFreeBytes, budget.minFreePercent) = (minFree.bytes, minFree.percent) }
        return budget
    }

    /// The root at `path`.
    func root(at path: FilePath) -> Root? { roots.first { $0.path == path } }

    /// "/home/ann/.config/archiver/config.toml:12".
    func place(_ line: Int) -> String { "\(document.file):\(line)" }

    /// The roots as the watch service takes them.
    var watched: [WatchService.Root] { roots.map { WatchService.Root($0.path, $0.settings, $0.exclusions) } }

    /// Gives the archive the policies and limits that the file names.
    ///
    /// Nothing is written if they hold already.
    func apply(to archive: Archive) throws(ArchiverError) {
        if let policy, try archive.policy() != policy { try archive.setPolicy(policy) }
        for root in roots {
            guard let policy = root.policy else { continue }
            let archived = ArchivedRoot(here: root.path)
            if try archive.ownPolicy(of: archived) != policy { try archive.setPolicy(policy, of: archived) }
        }
        let present = try archive.budget()
        if let budget = budget(present), budget != present { try archive.setBudget(budget) }
    }

    /// The configuration that a command of this user follows: the user's file, or, for root without one, the machine's.
    static var present: ServiceConfiguration {
        get throws(ArchiverError) {
            let files = [ConfigurationFile.ofUser, CurrentProcess.isRoot ? .ofSystem : nil].compactMap(\.self)
            do throws(ConfigurationError) {
                for file in files {
                    if try file.read() != nil { return try ServiceConfiguration(file.document()) }
                }
                return try ServiceConfiguration(ConfigurationDocument(empty: files.first?.path ?? "config.toml"))
            } catch { throw ArchiverError(error) }
        }
    }

    /// Two roots of one directory, and roots inside others, would capture the same files twice.
    private func requireSeparateRoots() throws(ConfigurationError) {
        var seen: [FilePath: Root] = [:]
        for root in roots {
            let line = root.source.table.line
            if let first = seen.updateValue(root, forKey: root.path) {
                throw ConfigurationError(
                    document.file, line: line,
                    "the directory \(root.path) is a root already, in line \(first.source.table.line)",
                    remedy: "remove one of the two")
            }
            if let archive, root.path.starts(with: archive.resolved) {
                throw ConfigurationError(
                    document.file, line: line, "\(root.path) is the archive's own directory or inside it",
                    remedy: "name another directory, or another archive")
            }
        }
        for root in roots {
            var above = root.path
            while above.removeLastComponent() {
                guard let outer = seen[above] else { continue }
                guard WatchService.captures(root.path, within: outer.path, outer.exclusions) else { break }
                throw ConfigurationError(
                    document.file, line: root.source.table.line,
                    "\(root.path) is inside the root \(outer.path) of line \(outer.source.table.line), "
                        + "which captures it already",
                    remedy: "remove one of the two, or exclude it from the outer one")
            }
        }
    }
}

/// Turns the file's texts into values.
private struct ValueReader {
    let file: FilePath

    func path(_ entry: ConfigurationEntry) throws(ConfigurationError) -> FilePath {
        guard case .text(let text) = entry.value else { throw fault(entry, "must be a text", nil) }
        if text == "~" || text.hasPrefix("~/") {
            guard let home = ConfigurationFile.home else {
                throw fault(entry, "begins with ~, but there is no home directory", "write the whole path")
            }
            return text == "~" ? home : home.pushing(FilePath(String(text.dropFirst(2)))).lexicallyNormalized()
        }
        let path = FilePath(text)
        guard path.isAbsolute else {
            throw fault(entry, "is '\(text)', which depends on the current directory", "begin the path with / or ~/")
        }
        return path.lexicallyNormalized()
    }

    func events(_ table: ConfigurationTable) throws(ConfigurationError) -> EventSettings {
        var settings = EventSettings()
        if let entry = table["on-event"], case .text(let command) = entry.value {
            guard !command.isEmpty else { throw fault(entry, "is empty", "name a command, or remove the line") }
            settings.command = Array(command.utf8)
        }
        settings.logFile = try table["log-file"].map { entry throws(ConfigurationError) in try path(entry) }
        if case .flag(let flag)? = table["private-logs"]?.value { settings.isPrivate = flag }
        return settings
    }

    func value<Value>(
        _ entry: ConfigurationEntry?, _ kind: String, example: String, _ parse: (String) -> Value?
    ) throws(ConfigurationError) -> Value? {
        guard let entry, case .text(let text) = entry.value else { return nil }
        guard let value = parse(text) else {
            throw fault(entry, "is '\(text)', which is not \(kind)", "write for example \(entry.key) = \"\(example)\"")
        }
        return value
    }

    func root(_ source: ConfigurationDocument.Root) throws(ConfigurationError) -> ServiceConfiguration.Root {
        let table = source.table
        guard let entry = table["path"] else {
            throw ConfigurationError(
                file, line: table.line, "the root has no path", remedy: "write path = \"~/directory\" below [[root]]")
        }
        let given = try path(entry)
        let resolved = (try? RootDirectory.resolvedAsFarAsItExists(given)) ?? given
        return ServiceConfiguration.Root(
            path: resolved, settings: try settings(table, of: resolved),
            exclusions: try exclusions(table, of: resolved),
            policy: try policy(source.keep), source: source)
    }

    private func settings(
        _ table: ConfigurationTable, of path: FilePath
    ) throws(ConfigurationError) -> WatchSettings {
        func duration(_ key: String, _ example: String) throws(ConfigurationError) -> Duration? {
            try value(table[key], "a duration", example: example) { DurationArgument(argument: $0)?.duration }
        }
        let settings = WatchSettings(
            settle: try duration("settle", "100ms"), maxDelay: try duration("max-delay", "2s"),
            auditInterval: try duration("audit-interval", "1h"),
            largeFile: try value(table["large-file"], "a size", example: "512M") { SizeArgument(argument: $0)?.bytes },
            largeFileDelay: try duration("large-file-delay", "5m"))
        do throws(ArchiverError) { try settings.check(path) } catch {
            throw ConfigurationError(
                file, line: (table["settle"] ?? table["max-delay"])?.line ?? table.line, error.message,
                remedy: "settle must not exceed max-delay")
        }
        return settings
    }

    /// The rules, made by the command line's own options.
    private func exclusions(
        _ table: ConfigurationTable, of path: FilePath
    ) throws(ConfigurationError) -> ExclusionRules {
        let size = try value(table["exclude-larger-than"], "a size", example: "100M") { text in
            SizeArgument(argument: text).map { _ in text }
        }
        var words = size.map { ["--exclude-larger-than=\($0)"] } ?? []
        if case .texts(let patterns)? = table["exclude"]?.value {
            words += patterns.map { "--exclude=" + ByteArgument.text(of: Array($0.utf8)) }
        }
        for (key, option, isSet) in ValueReader.flags {
            if case .flag(let flag)? = table[key]?.value, flag == isSet { words.append(option) }
        }
        do { return try ExclusionOptions.parse(words).rules(for: [path]) } catch {
            let failure = Failure(error)
            throw ConfigurationError(
                file, line: table["exclude"]?.line ?? table.line,
                failure?.message ?? ExclusionOptions.message(for: error), remedy: failure?.remedy)
        }
    }

    /// The keys for true or false, and the option that stands for one of the two.
    private static let flags = [
        ("exclude-caches", "--exclude-caches", true), ("use-gitignore", "--use-gitignore", true),
        ("cross-file-systems", "--cross-file-systems", true), ("default-exclusions", "--no-default-exclusions", false),
    ]

    func policy(_ table: ConfigurationTable?) throws(ConfigurationError) -> RetentionPolicy? {
        guard let table, !table.entries.isEmpty else { return nil }
        let named = try value(table["policy"], "a policy", example: "usual") { text -> RetentionPolicy? in
            ["usual": .usual, "everything": .everything][text]
        }
        func span(_ key: String) throws(ConfigurationError) -> RetentionPolicy.Span? {
            try value(table[key], "a span", example: "30d") { text in
                SpanArgument(argument: text).map { $0.seconds.map { .seconds($0) } ?? .forever }
            }
        }
        let spans = (try span("each"), try span("minutely"), try span("hourly"), try span("daily"), try span("weekly"))
        if let named {
            guard table.entries.count == 1 else {
                throw ConfigurationError(
                    file, line: table.line, "'policy' and spans exclude each other", remedy: "remove one of them")
            }
            return named
        }
        do throws(ArchiverError) {
            return try RetentionPolicy(
                all: spans.0, minutely: spans.1, hourly: spans.2, daily: spans.3, weekly: spans.4)
        } catch {
            throw ConfigurationError(file, line: table.line, error.message, remedy: error.remedy)
        }
    }

    private func fault(_ entry: ConfigurationEntry, _ reason: String, _ remedy: String?) -> ConfigurationError {
        ConfigurationError(file, line: entry.line, "'\(entry.key)' \(reason)", remedy: remedy)
    }
}

extension ArchiverError {
    /// The error of a configuration file, with the nearest known key.
    init(_ error: ConfigurationError) {
        var remedy = error.remedy
        if let unknown = error.unknown {
            let known = "the keys here are \(unknown.known.joined(separator: ", "))"
            remedy = Suggestion.nearest(to: unknown.word, among: unknown.known).map { "did you mean '\($0)'?" } ?? known
        }
        self.init(.unsuitableSettings, error.description, remedy: remedy, path: error.file)
    }
}
