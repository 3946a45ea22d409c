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
            is bad, the exit code is 1; each bad finding names a remedy.

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
        if console.isJSON {
            try console.output.line(JSONText.of(findings.map(DoctorFindingJSON.init)))
        } else {
            for finding in findings { try console.output.line(FindingText.line(finding, console.style)) }
        }
        if findings.contains(where: { $0.verdict == .bad }) { throw ExitStatus.failed }
    }
}

/// Findings as lines.
private enum FindingText {
    /// "bad   watches     63000 of 65536 watches are in use … — run …".
    static func line(_ finding: DoctorFinding, _ style: Style) -> String {
        let mark: Style.Mark =
            switch finding.verdict {
            case .good: .green
            case .note: .yellow
            case .bad: .red
            }
        let verdict = style(mark, finding.verdict.rawValue) + blanks(finding.verdict.rawValue, 6)
        let remedy = CommandRemedy.text(finding.remedy).map { " — " + Escaping.text($0) } ?? ""
        return verdict + finding.topic + blanks(finding.topic, 12) + Escaping.text(finding.message) + remedy
    }

    private static func blanks(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count))
    }
}

/// A finding as JSON.
private struct DoctorFindingJSON: Encodable {
    let topic: String
    let verdict: String
    let message: String
    let remedy: String?

    init(_ finding: DoctorFinding) {
        topic = finding.topic
        verdict = finding.verdict.rawValue
        message = finding.message
        remedy = CommandRemedy.text(finding.remedy)
    }
}
