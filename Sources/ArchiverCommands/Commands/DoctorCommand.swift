// `archiver doctor`: checks whether a directory can be watched on this machine.

internal import ArchiverKit
internal import ArgumentParser

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check whether a directory can be watched on this machine.",
        discussion: """
            Checks the kernel, the watch limits and their use, the file systems, the archive's free space and the \
            clock; for a directory also its size and whether all of it can be read. It changes nothing. If a finding \
            is bad, the exit code is 1; each bad finding names a remedy. In a pipe the columns are separated by tabs: \
            verdict, topic, message, remedy.

            Examples:
              archiver doctor ~/project
            """)

    @Argument(help: ArgumentHelp("The directory to watch.", valueName: "dir"))
    var directory: PathArgument?

    @OptionGroup(title: "Exclusions") var exclusions: ExclusionOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let doctor = Doctor(
            archive: try global.directory ?? Archive.defaultDirectory, directory: directory?.path,
            rules: try exclusions.rules(for: directory.map { [$0.path] } ?? []))
        let findings = try doctor.examine()
        try DoctorCommand.listing(console).write(findings, console)
        if findings.contains(where: { $0.verdict == .bad }) { throw ExitStatus.failed }
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
