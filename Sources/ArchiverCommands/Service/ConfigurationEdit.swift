// Adds and removes a root in the configuration file, and checks the result before it is written.

internal import ArchiverKit
internal import Configuring
internal import Exclusions
internal import FileIO
internal import SystemPackage

/// A change of the configuration file that has been checked.
struct ConfigurationEdit {
    /// The archive that the file names or will name.
    struct ArchivePlace {
        let path: FilePath
        let isConfigured: Bool
    }

    /// What the archive remembers of a root.
    struct Remembered {
        var settings = WatchSettings()
        var exclusions: ExclusionRules?
    }

    /// The configuration after the change.
    let configuration: ServiceConfiguration
    private let text: String

    private static let head = [
        "# What archiver watches. 'archiver config' shows it, 'archiver config check' checks it,",
        "# and 'archiver reload' makes the running service take over changes.",
    ]

    /// Runs `body` with the present configuration, while no other process changes the file.
    static func whileLocked(
        _ file: ConfigurationFile, _ body: (_ read: () throws -> ServiceConfiguration) throws -> Void
    ) throws {
        let folder = file.path.removingLastComponent()
        try ConfigurationFile.createDirectory(folder)
        let lock = try FileLock.exclusive(EnclosedPath(folder).appending(".lock"))
        defer { withExtendedLifetime(lock) {} }
        try body { try ServiceConfiguration(file) }
    }

    /// Adds a root at the end of the file.
    ///
    /// - Parameters:
    ///   - settings: those given now; they override the remembered ones.
    ///   - rules: those given now; nil for the remembered ones.
    init(
        adding path: FilePath, _ settings: WatchSettings, _ rules: ExclusionRules?, archive: ArchivePlace,
        to configuration: ServiceConfiguration, _ remembered: Remembered
    ) throws {
        guard let name = String(validating: path.bytes, as: UTF8.self), !name.utf8.contains(0) else {
            throw Failure.usage(
                "the name of \(Escaping.text(path.bytes)) is not UTF-8, and a TOML file cannot hold it",
                remedy: "watch a directory above it, or rename it")
        }
        let file = ConfigurationFile(path: configuration.document.file)
        var text = try ConfigurationEdit.text(of: file)
        if text.isEmpty { text = ConfigurationEdit.head.joined(separator: "\n") + "\n" }
        if !archive.isConfigured {
            // Keys of the top must stand before the first table, so the line goes to the front.
            let line = ConfigurationText.line("archive", .text(archive.path.string)) + "\n"
            let isNew = configuration.document.top.entries.isEmpty && configuration.roots.isEmpty
            text = isNew && text.hasPrefix(ConfigurationEdit.head[0]) ? text + line : line + text
        }
        let lines =
            ["[[root]]", ConfigurationText.line("path", .text(name))]
            + ConfigurationEdit.lines(rules ?? remembered.exclusions ?? ExclusionOptions.ofNewRoots)
            + ConfigurationEdit.lines(settings.filled(from: remembered.settings))
        self.text = ConfigurationText.appending(lines, to: text)
        self.configuration = try ConfigurationEdit.checked(self.text, file)
    }

    /// Removes a root with everything that belongs to it.
    init(removing root: ServiceConfiguration.Root, from configuration: ServiceConfiguration) throws {
        let file = ConfigurationFile(path: configuration.document.file)
        let (text, line) = (try ConfigurationEdit.text(of: file), root.source.table.line)
        guard let lines = root.source.lines else { throw ConfigurationEdit.byHand(configuration.place(line)) }
        self.text = ConfigurationText.removing(lines, from: text)
        self.configuration = try ConfigurationEdit.checked(self.text, file)
        // The lines are found by another way than the values.
        guard Set(self.configuration.watched) == Set(configuration.watched.filter { $0.path != root.path }) else {
            throw ConfigurationEdit.byHand(configuration.place(line))
        }
    }

    /// Replaces the file.
    func write() throws {
        try ConfigurationFile(path: configuration.document.file).replace(text)
    }

    private static func text(of file: ConfigurationFile) throws -> String {
        do { return try file.read() ?? "" } catch { throw ArchiverError(error) }
    }

    private static func checked(_ text: String, _ file: ConfigurationFile) throws -> ServiceConfiguration {
        do { return try ServiceConfiguration(ConfigurationDocument(text, file: file.path)) } catch {
            throw ArchiverError(error)
        }
    }

    private static func byHand(_ place: String) -> Failure {
        Failure.unsuitable(
            "\(Escaping.text(place)): the root is written in a way that cannot be edited safely",
            remedy: "remove it by hand; 'archiver reload' applies it")
    }

    // MARK: Lines

    private static func lines(_ rules: ExclusionRules) -> [String] {
        var lines: [String] = []
        let hasHelpers = rules.excludesEditorHelpers
        let patterns = rules.patterns.dropFirst(hasHelpers ? ExclusionRules.editorHelpers.count : 0)
        if !patterns.isEmpty {
            lines.append(
                ConfigurationText.line("exclude", .texts(patterns.map { String(decoding: $0, as: UTF8.self) })))
        }
        if let size = rules.largerThan {
            lines.append(ConfigurationText.line("exclude-larger-than", .text("\(size)")))
        }
        let flags = [
            ("exclude-caches", rules.excludesCaches, true),
            ("use-gitignore", rules.ignoreFileNames.contains(ExclusionRules.gitIgnoreFileName), true),
            ("cross-file-systems", rules.crossesMounts, true), ("default-exclusions", !hasHelpers, false),
        ]
        return lines + flags.filter(\.1).map { ConfigurationText.line($0.0, .flag($0.2)) }
    }

    private static func lines(_ settings: WatchSettings) -> [String] {
        let durations = [
            ("settle", settings.settle), ("max-delay", settings.maxDelay), ("audit-interval", settings.auditInterval),
            ("large-file-delay", settings.largeFileDelay),
        ]
        var lines = durations.compactMap { key, duration in
            duration.map { ConfigurationText.line(key, .text(DurationArgument.text($0))) }
        }
        if let size = settings.largeFile { lines.append(ConfigurationText.line("large-file", .text("\(size)"))) }
        return lines
    }
}

extension RootDirectory {
    /// Checks that a root is outside of an archive, which need not exist yet.
    static func checkIsOutside(_ archive: FilePath, ifThere root: FilePath, as path: FilePath) throws {
        if FileIdentity(at: archive) != nil { return try checkIsOutside(archive, root, as: path) }
        guard root.starts(with: archive.resolved) else { return }
        throw ArchiverError(
            .unsuitableRoot, "\(path) is the archive's own directory or inside it", remedy: "name another directory",
            path: path)
    }
}
