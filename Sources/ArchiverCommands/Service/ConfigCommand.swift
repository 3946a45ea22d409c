// `archiver config`: shows and checks the configuration.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import Glibc
internal import SystemPackage

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "config",
        abstract: "Show or check the configuration.",
        discussion: """
            The configuration is a TOML file: ~/.config/archiver/config.toml (or below $XDG_CONFIG_HOME), and \
            /etc/archiver/config.toml for --system. It names the archive, the roots with their exclusions and timing, \
            which snapshots are kept, and the space limits. Its keys are named like the options. Options override it. \
            'archiver enable' and 'archiver disable' edit it; you may, too: 'archiver reload' makes the running \
            service take over your changes.

            Examples:
              archiver config                # what holds, and where each value comes from
              archiver config check          # is the file right?
              archiver config check new.toml
            """,
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self], defaultSubcommand: ConfigShowCommand.self)
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "show", abstract: "Show the values that hold, and where each comes from.")

    @OptionGroup var place: SystemOption
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let configuration = try ServiceConfiguration(place.file)
        let archive = try global.archivePlace(configuration)
        let rows = ConfigurationRow.rows(configuration, archive: archive)
        try ConfigurationRow.listing.write(rows, console)
    }
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "check",
        abstract: "Check a configuration file.",
        discussion: """
            The exit code is 64 if the file cannot be used. The error names the line.
            """)

    @Argument(help: ArgumentHelp("The file (default: the one in use).", valueName: "file"))
    var file: PathArgument?

    @OptionGroup var place: SystemOption
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let file = try file.map { ConfigurationFile(path: $0.path.absolute) } ?? place.file
        do throws(ConfigurationError) {
            if try file.read() == nil, self.file != nil {
                throw ConfigurationError(file.path, line: nil, "there is no such file", remedy: "check the spelling")
            }
        } catch { throw ArchiverError(error) }
        let roots = try ServiceConfiguration(file).roots
        let console = Console(global)
        if console.isJSON {
            return try console.output.line(JSONText.of(ConfigurationCheckJSON(file: file.path, rootCount: roots.count)))
        }
        try console.summary("\(Escaping.text(file.path.bytes)) is right: \(Plural.of(roots.count, "root")).")
    }
}

/// A value of the configuration, as `config` lists it.
private struct ConfigurationRow {
    let key: String
    let value: String
    /// "config.toml:3", "--archive", "default".
    let source: String

    static var listing: Listing<ConfigurationRow> {
        Listing(
            [
                .text("key", isElastic: true) { Escaping.text($0.key) },
                .text("value", isElastic: true) { Escaping.text($0.value) },
                .text("from", isElastic: true) { Escaping.text($0.source) },
            ], emptiness: "Nothing is configured.", json: ConfigurationRowJSON.init)
    }

    static func rows(
        _ configuration: ServiceConfiguration, archive: (path: FilePath, source: String)
    ) -> [ConfigurationRow] {
        let document = configuration.document
        var rows = [ConfigurationRow(key: "archive", value: archive.path.string, source: archive.source)]
        rows += self.rows(document.top, "", configuration).filter { $0.key != "archive" }
        rows += self.rows(document.keep, "keep", configuration)
        rows += self.rows(document.budget, "budget", configuration)
        for root in document.roots {
            let name = root.table["path"].map { text($0.value) } ?? ""
            rows += self.rows(root.table, "root \(name)", configuration)
            rows += self.rows(root.keep, "root \(name) keep", configuration)
        }
        return rows
    }

    private static func rows(
        _ table: ConfigurationTable?, _ name: String, _ configuration: ServiceConfiguration
    ) -> [ConfigurationRow] {
        (table?.entries ?? []).map {
            ConfigurationRow(
                key: name.isEmpty ? $0.key : "\(name) \($0.key)", value: text($0.value),
                source: configuration.place($0.line))
        }
    }

    private static func text(_ value: ConfigurationEntry.Value) -> String {
        switch value {
        case .text(let text): text
        case .flag(let flag): "\(flag)"
        case .texts(let texts): texts.joined(separator: ", ")
        }
    }
}

private struct ConfigurationRowJSON: Encodable {
    let row: ConfigurationRow

    init(_ row: ConfigurationRow) { self.row = row }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(row.key, forKey: .key)
        try object.encode(row.value, forKey: .value)
        try object.encode(row.source, forKey: .from)
    }
}

private struct ConfigurationCheckJSON: Encodable {
    let file: FilePath
    let rootCount: Int

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(bytes: file.bytes, forKey: .configuration)
        try object.encode(rootCount, forKey: .rootCount)
    }
}
