// `archiver diff`: what differs between two snapshots, or between one and the directory as it is now.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two snapshots.",
        discussion: """
            Where the second one is left out, the first is compared with the directory as it is now. A path behind a \
            colon confines the comparison to it. Lines begin with + (added), ~ (modified, and in what) or - (removed). \
            Directories of which only the time differs are left out, unless with -v. What --text prints is a patch for \
            patch -p1.

            Examples:
              archiver diff latest~5            what has changed since five snapshots ago
              archiver diff @1h latest --text   line by line
            """)

    @Argument(
        help: ArgumentHelp(
            "A snapshot (id, latest, latest~2, @10m, label), or a path in it.", valueName: "selector[:path]"))
    var left: ByteArgument

    @Argument(help: ArgumentHelp("The later snapshot; without it, the directory as it is now.", valueName: "selector"))
    var right: ByteArgument?

    @Flag(help: "Show the lines that differ.")
    var text = false

    @Flag(help: "Show only how much differs.")
    var stat = false

    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if text && stat { throw ValidationError("--text and --stat exclude each other") }
        if text && global.json { throw ValidationError("--text and --json exclude each other") }
    }

    func run() throws {
        let console = Console(global)
        let leftNamed = try SnapshotPath(left)
        let rightSelector = try right.map { try SnapshotPath($0).withoutPath("the second side") }
        let context = try RootContext(global.openArchive(), place)
        try context.requireOneRoot(for: leftNamed.selector)
        let leftRecord = try context.snapshot(leftNamed.selector)
        let rightRecord = try rightSelector.map { try context.snapshot($0, besides: leftRecord) }
        let directory = FilePath(bytes: leftRecord.rootPath)
        let path = leftNamed.path ?? .root
        let archive = context.archive

        var report = try report(console, archive, right: rightRecord == nil ? .directory(directory) : .archive(archive))
        var isEmpty = true
        let compare: ((Difference) -> Bool) throws -> Void = { body in
            if let rightRecord {
                try archive.differences(from: leftRecord, to: rightRecord, at: path, body)
            } else {
                try archive.differences(from: leftRecord, toDirectory: directory, at: path, body)
            }
        }
        try visiting(compare) { difference in
            isEmpty = false
            if isShown(difference) { try report.add(difference) }
        }
        // A path that neither side has is a slip of the pen, not an absence of differences.
        if isEmpty && !path.isRoot { _ = try archive.requiredEntry(at: path, in: leftRecord) }
        try report.finish()
    }

    /// Programs and those who want to know all get all; others would see each directory of each new file.
    private func isShown(_ difference: Difference) -> Bool {
        global.json || global.verbose || !difference.isDirectoryTimeOnly
    }

    private func report(_ console: Console, _ archive: Archive, right: FileContents) throws -> any DifferenceReport {
        if stat { return StatisticsReport(console) }
        if text { return TextReport(console: console, left: .archive(archive), right: right) }
        return console.isJSON ? try JSONDifferenceReport(console) : NameReport(console: console)
    }
}
