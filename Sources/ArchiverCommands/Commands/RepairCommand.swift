// `archiver repair`: rebuilds the catalogue and archive.json.

internal import ArchiverKit
internal import ArgumentParser

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "repair",
        abstract: "Rebuild the archive's catalogue, and a lost archive.json.",
        discussion: """
            The catalogue is an index of the segments, which hold all data, so it can be rebuilt at any time. Run \
            this if 'archiver check' or another command tells you to. A lost or damaged archive.json is \
            replaced by the copy in the segments.

            A segment that is missing is reported by every command, until it is put back. If there is no copy of \
            it, --write-off records that it is lost: then only 'archiver check' mentions it, as a note. If it turns \
            up again, it is read.

            Examples:
              archiver repair
              archiver repair --archive /mnt/backup/archiver
              archiver repair --write-off 'bad sectors, no copy'
            """)

    @Flag(help: "Rebuild the catalogue from the segments (the default).")
    var catalogue = false

    @Option(help: ArgumentHelp("Record that missing segments are lost for good, and why.", valueName: "reason"))
    var writeOff: String?

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let repair = try Archive.repairCatalogue(of: try global.directory, writingOff: writeOff)
        if console.isJSON {
            try console.output.line(JSONText.of(RepairJSON(repair)))
        } else {
            try console.summary(RepairCommand.summary(repair))
        }
        console.warn(repair.moved, count: repair.moved.count) { Escaping.text($0) }
        if !console.isJSON {
            console.warn(repair.lost, count: repair.lost.count) { "note: " + Escaping.text($0) }
        }
        console.warn(repair.findings, count: repair.findings.count, limit: repair.findings.count) { Escaping.text($0) }
        if !repair.findings.isEmpty { throw ExitStatus.damaged }
    }

    private static func summary(_ repair: CatalogueRepair) -> String {
        let cut = repair.cutBytes > 0 ? ", \(Plural.of(repair.cutBytes, "byte")) of an unfinished commit cut off" : ""
        let states = repair.states > 0 ? "\(Plural.of(repair.states, "saved state")), " : ""
        return "rebuilt the catalogue: \(Plural.of(repair.snapshots, "snapshot")), \(states)"
            + "\(Plural.of(repair.chunks, "chunk")) in \(Plural.of(repair.segments, "segment"))\(cut)"
    }
}
