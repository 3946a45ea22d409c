// `archiver check`: checks the archive for damage.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "check",
        abstract: "Check the archive for damage.",
        discussion: """
            Checks that every block is in its place, that every snapshot's tree is complete and in order, and that \
            every saved state is complete. With --data it also reads and verifies every byte: snapshots that pass can \
            be restored. With --part it reads an eighth of the bytes: those that were verified longest ago. If anything \
            is damaged, it reports which snapshots are still good, the exit code is 2, and 'archiver status' says so \
            until another check finds nothing.

            Examples:
              archiver check
              archiver check --data             # slower: reads all data
              archiver check --part             # every week: all data in about eight weeks
            """)

    @Flag(help: "Read and verify every byte.")
    var data = false

    @Flag(help: "Read and verify an eighth of the bytes: those verified longest ago.")
    var part = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if data, part { throw ValidationError("--data reads every byte, --part an eighth: give one of them") }
    }

    func run() throws {
        let console = Console(global)
        let archive = try global.openArchive(reportsFindings: false)
        let progress = OperationProgress()
        let line = ProgressLine(
            "checking \(Escaping.text(archive.directory.bytes))", progress, console, counting: "chunks")
        let result: CheckResult
        do {
            defer { line.end() }
            result = try archive.check(data: data ? .all : part ? .part : .none, progress: progress)
        }
        if console.isJSON {
            try console.output.line(JSONText.of(CheckJSON(result)))
        } else {
            try console.summary(CheckCommand.summary(result))
        }
        console.warn(result.findings, count: result.findingCount, limit: result.findings.count) { finding in
            Escaping.text(finding.message)
                + (CommandRemedy.text(finding.remedy).map { " — " + Escaping.text($0) } ?? "")
        }
        if !console.isJSON {
            console.warn(result.warnings, count: result.warnings.count) { "note: " + Escaping.text($0) }
        }
        if result.findingCount > 0 { throw ExitStatus.damaged }
    }

    private static func summary(_ result: CheckResult) -> String {
        let good =
            "\(result.goodSnapshots) of \(Plural.of(result.snapshots, "snapshot")) "
            + (result.goodSnapshots == 1 ? "is good" : "are good")
        let verdict =
            result.findingCount == 0 ? "all is well" : "\(Plural.of(result.findingCount, "finding")), \(good)"
        let states = result.states > 0 ? "\(Plural.of(result.states, "saved state")), " : ""
        return "\(verdict): \(Plural.of(result.snapshots, "snapshot")), \(states)"
            + "\(Plural.of(result.segments, "segment")), \(Plural.of(result.blocks, "block")), "
            + "\(Plural.of(result.chunks, "chunk")), \(ByteCount.text(result.bytesRead)) read"
            + (result.spareDamageCount > 0 ? spare(result.spareDamageCount) : "")
    }

    private static func spare(_ count: Int) -> String {
        "; \(Plural.of(count, "damaged copy", "damaged copies")) of data that is intact elsewhere"
    }
}
