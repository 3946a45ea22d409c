// Options that every command takes.

internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import Configuring
internal import FileIO
internal import Glibc
internal import Replicas
internal import SystemPackage

/// The form of lists that are not JSON.
enum ListFormat: String, ExpressibleByArgument, CaseIterable {
    case table, lines

    // The parser would find the same through key paths, which takes a fortieth of the time of a short command.
    static var allValueStrings: [String] { allCases.map(\.rawValue) }
    static var allValueDescriptions: [String: String] { [:] }
}

/// Options for the archive and the form of the output.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The archive, or the address of a replica to read (default: $ARCHIVER_ARCHIVE, the configured one, or "
                + "~/.local/share/archiver).",
            valueName: "path|url"))
    var archive: ArchiveArgument?

    @Option(
        help: ArgumentHelp(
            "The file with the identity that reads the replica; '-' reads it from stdin.", valueName: "file"))
    var identity: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The public key that must have signed the replica, as 'replica add' printed it.", valueName: "key"))
    var signer: String?

    @Flag(help: "Use a new or another archive in place of the one that this machine remembers.")
    var create = false

    @Flag(help: "Print results and errors as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Print lists as a table, or as lines with tabs for programs (default: a table on a terminal).",
            valueName: "table|lines"))
    var format: ListFormat?

    @Flag(help: "Do not use a pager for long output.")
    var noPager = false

    @Flag(name: .shortAndLong, help: "Print only results and errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more details.")
    var verbose = false

    @Flag(help: "Do not use colours; $NO_COLOR does the same.")
    var noColor = false

    func validate() throws {
        if quiet && verbose { throw ValidationError("--quiet and --verbose exclude each other") }
        if json && format != nil { throw ValidationError("--json and --format exclude each other") }
    }

    /// Opens the archive and reports its findings on stderr.
    ///
    /// - Parameters:
    ///   - creating: whether to create the archive if it does not exist.
    ///   - reportsFindings: whether to report findings; false if the command's result contains them.
    ///   - configuration: the configuration that may name the archive; nil for the user's.
    func openArchive(
        creating: Bool = false, reportsFindings: Bool = true, configuration: ServiceConfiguration? = nil
    ) throws(ArchiverError) -> Archive {
        if !creating, let address = archiveAddress {
            let archive = try self.archive(at: address)
            if reportsFindings { FindingReport(archive.findings).write(Console(self)) }
            return archive
        }
        let (place, source) = try archivePlace(configuration)
        let known = create ? nil : KnownArchive.find(at: place)
        let archive: Archive
        do {
            // The library's own default has its own remedy.
            let isDefault = source == GlobalOptions.defaultSource
            archive = try Archive.open(isDefault ? nil : place, creating: creating && known == nil)
        } catch {
            guard error.code == .noArchive || error.code == .notAnArchive else { throw error }
            if error.code == .notAnArchive, GlobalOptions.isReplica(place) {
                throw ArchiverError(
                    .notAnArchive, "\(place) is a replica, not an archive",
                    remedy: "to read it, name its address: --archive file://\(Escaping.text(place.bytes))", path: place)
            }
            guard let known else {
                // Someone who has never used an archive does not look for one.
                guard error.code == .noArchive, KnownArchive.all.isEmpty else { throw error }
                throw ArchiverError(
                    .noArchive, error.message,
                    remedy: "'archiver watch DIR' creates it and captures every change in a directory",
                    path: error.path)
            }
            throw absence("the archive \(place) is not there", known, "'--create' creates a new one")
        }
        if let known, !known.ids.contains(archive.id) {
            throw absence("another archive is at \(place)", known, "'--create' uses this one")
        }
        let console = Console(self)
        if reportsFindings { FindingReport(archive.findings).write(console) }
        if archive.isNew { CreationReport(archive).write(console) }
        if creating { KnownArchive.remember(archive.id, at: place) }
        return archive
    }

    /// Opens the archive to capture `directories`; it is not created if none of them can be captured.
    ///
    /// - Throws: the error of the first directory, or of opening the archive.
    func openArchive(capturing directories: [FilePath]) throws -> Archive {
        if try !isThere { try GlobalOptions.requireOne(of: directories) }
        return try openArchive(creating: true)
    }

    private static func isReplica(_ directory: FilePath) -> Bool {
        directory.appending(ReplicaObject.manifest).withPlatformString { access($0, F_OK) == 0 }
    }

    /// Whether the archive exists.
    var isThere: Bool {
        get throws { try place.appending("archive.json").withPlatformString { access($0, F_OK) == 0 } }
    }

    private static func requireOne(of directories: [FilePath]) throws {
        var failure: (any Error)?
        for directory in directories {
            do {
                _ = try RootDirectory.open(directory)
                return
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// The absolute path of the archive.
    private var place: FilePath { get throws(ArchiverError) { try archivePlace().path } }

    private static let defaultSource = "default"

    /// Throws if a replica is named in place of an archive: the command would change it, or is about a local archive.
    func refuseReplica() throws(ArchiverError) { if archiveAddress != nil { _ = try archivePlace() } }

    /// The absolute path of the archive, and where it comes from: an option, a variable, the configuration or the default.
    ///
    /// - Parameter configuration: the configuration that may name it; nil for the user's.
    func archivePlace(
        _ configuration: ServiceConfiguration? = nil
    ) throws(ArchiverError) -> (path: FilePath, source: String) {
        if let address = archiveAddress {
            throw ArchiverError(
                .readOnly, "\(Escaping.text(address)) is a replica, which can only be read",
                remedy: Advice.cloneToWrite.text)
        }
        if let archive { return (archive.path.absolute, "--archive") }
        if let path = GlobalOptions.archiveOfEnvironment?.path {
            return (path.absolute, "$ARCHIVER_ARCHIVE")
        }
        let configuration = if let configuration { configuration } else { try ServiceConfiguration.present }
        if let path = configuration.archive, let entry = configuration.document.top["archive"] {
            return (path, configuration.place(entry.line))
        }
        return (try Archive.defaultDirectory.absolute, GlobalOptions.defaultSource)
    }

    /// The archive that the command line, the environment or the configuration names; nil for the library's default.
    var directory: FilePath? {
        get throws(ArchiverError) {
            let (path, source) = try archivePlace()
            return source == GlobalOptions.defaultSource ? nil : path
        }
    }

    /// The archive that the environment names.
    static var archiveOfEnvironment: ArchiveArgument? {
        guard let value = getenv("ARCHIVER_ARCHIVE"), value.pointee != 0 else { return nil }
        let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
        return ArchiveArgument(argument: ByteArgument.text(of: bytes))
    }

    /// The address of the replica that the command line or the environment names in place of an archive.
    var archiveAddress: String? { archive.map(\.address) ?? GlobalOptions.archiveOfEnvironment?.address }

    /// The error if the archive that this machine remembers is not at its path.
    private func absence(_ message: String, _ known: KnownArchive, _ choice: String) -> ArchiverError {
        ArchiverError(
            .noArchive, "\(message): this machine's archive was here on \(LocalTime.text(known.lastUsed))",
            remedy: "is its disk mounted? \(choice)", path: known.path)
    }
}

/// The option of every command that changes something.
struct ChangeOptions: ParsableArguments {
    @Flag(name: .long, help: "Show what would be done, and change nothing.")
    var dryRun = false
}
