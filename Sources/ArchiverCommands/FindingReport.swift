// Writes the findings of opening an archive, and its creation, to stderr: one line or one JSON object each.

internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// The findings that a command reports before it starts its work; only `check` mentions those that need no remedy.
struct FindingReport {
    private let findings: [ArchiveFinding]

    /// The maximum number of findings shown as text; `check` reports all.
    private static let limit = 5

    init(_ findings: [ArchiveFinding]) { self.findings = findings.filter { !$0.isNote } }

    func write(_ console: Console) {
        if console.isJSON {
            for finding in findings { if let line = try? JSONText.of(WarningJSON(finding)) { console.warn(line) } }
        } else {
            console.warn(findings, count: findings.count, limit: FindingReport.limit) { finding in
                "warning: " + Escaping.text(finding.message)
                    + (CommandRemedy.text(finding.remedy).map { " — " + $0 } ?? "")
            }
        }
    }
}

/// Says on stderr that a command created an archive, always: it may hide one whose disk is not mounted.
struct CreationReport {
    private let archive: Archive

    init(_ archive: Archive) { self.archive = archive }

    func write(_ console: Console) {
        let name = Escaping.text(archive.directory.bytes)
        let message = "created a new archive: \(name)"
        // Another one may have been meant: a script without $ARCHIVER_ARCHIVE uses the default archive.
        let remedy = KnownArchive.all.first { $0.path != archive.directory && $0.exists }.map {
            "this machine also uses \(Escaping.text($0.path.bytes)); if you meant that one, name it with --archive"
        }
        guard console.isJSON else {
            return console.warn("archiver: " + message + (remedy.map { " — " + $0 } ?? ""))
        }
        let json = WarningJSON(kind: "created", message: message, remedy: remedy)
        if let line = try? JSONText.of(json) { console.warn(line) }
    }
}
