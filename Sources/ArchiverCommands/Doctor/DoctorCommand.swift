// `archiver doctor`: checks whether a directory can be watched on this machine.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import SystemPackage

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "doctor",
        abstract: "Check whether a directory can be watched on this machine.",
        discussion: """
            Checks the kernel, the watch limits and their use, the file systems, the archive's free space and the \
            clock; for a directory also its size and whether all of it can be read. It changes nothing. If a finding \
            is bad, the exit code is 1; each bad finding names a remedy. With --format lines the columns are separated by tabs: \
            verdict, topic, message, remedy. With --report it writes a new file to attach to a bug report: versions, \
            limits, settings, counters and the service's latest events. It holds no contents, and no names of \
            directories and files unless --with-names is given.

            Examples:
              archiver doctor ~/project
              archiver doctor --report archiver-report.txt
            """)

    @Argument(help: ArgumentHelp("The directory to watch.", valueName: "dir"))
    var directory: PathArgument?

    @Option(help: ArgumentHelp("Write a report for a bug to this new file.", valueName: "file"))
    var report: PathArgument?

    @Flag(help: "Keep names of directories and files in the report.")
    var withNames = false

    @OptionGroup var place: SystemOption
    @OptionGroup(title: "Exclusions") var exclusions: ExclusionOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let doctor = Doctor(
            archive: try global.directory ?? Archive.defaultDirectory, directory: directory?.path,
            rules: try exclusions.rules(for: directory.map { [$0.path] } ?? []))
        let findings = try doctor.examine()
        if let report { return try write(findings, to: report.path.absolute, console) }
        try DoctorCommand.listing(console).write(findings, console)
        if findings.contains(where: { $0.verdict == .bad }) { throw ExitStatus.failed }
    }

    func validate() throws {
        if withNames, report == nil { throw ValidationError("--with-names needs --report") }
        if let report, report.path.lastComponent == nil { throw ValidationError("--report must name a file") }
    }

    private func write(_ findings: [DoctorFinding], to file: FilePath, _ console: Console) throws {
        let text = DoctorReport(findings, global, place, isNamed: withNames).text
        let name = CName(file.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? [])
        do throws(FileError) {
            try DurableFile.create(
                directory: file.removingLastComponent(), name: name, contents: Array(text.utf8))
        } catch {
            guard error.code == .fileExists else { throw error }
            throw Failure.unsuitable(
                "\(Escaping.text(file.bytes)) exists already", remedy: "name a new file", path: file.bytes)
        }
        try console.summary("\(Escaping.text(file.bytes)) is written; read it before you send it.")
    }

    private static func listing(_ console: Console) -> Listing<DoctorFinding> {
        var listing = Listing<DoctorFinding>(
            [
                .pipe { $0.verdict.rawValue }, .pipe { $0.topic }, .pipe { Escaping.text($0.message) },
                .pipe { CommandRemedy.text($0.remedy).map { Escaping.text($0) } ?? "" },
            ], emptiness: ""
        ) { DoctorFindingJSON($0) }
        listing.personLines = { finding in
            // "bad   watches     63000 of 65536 watches are in use … — run …".
            let remedy = CommandRemedy.text(finding.remedy).map { " — " + Escaping.text($0) } ?? ""
            let mark: Style.Mark =
                switch finding.verdict {
                case .good: .green
                case .note: .yellow
                case .bad: .red
                }
            let verdict = finding.verdict.rawValue
            let start = verdict + blanks(verdict, 6) + finding.topic + blanks(finding.topic, 12)
            // With a blank before it, it is an item of a list, whose text is wrapped below itself.
            let lines = TextWrap.wrapped(
                " " + start + Escaping.text(finding.message) + remedy, to: (console.columns ?? 10_000) + 1
            ).split(separator: "\n").map { $0.dropFirst() }
            return [console.style(mark, verdict) + (lines.first?.dropFirst(verdict.count) ?? "")]
                + lines.dropFirst().map(String.init)
        }
        return listing
    }

    private static func blanks(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count))
    }
}
