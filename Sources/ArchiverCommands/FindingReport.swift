// Writes the findings of opening an archive to stderr: one line or one JSON object each.

internal import ArchiveStorage

/// The findings that a command reports before it starts its work; only `check` names files that are no segments.
struct FindingReport {
    private let findings: [ArchiveFinding]

    /// The maximum number of findings shown as text; `check` reports all.
    private static let limit = 5

    init(_ findings: [ArchiveFinding]) { self.findings = findings.filter { $0.kind != .stranger } }

    func write(_ console: Console) {
        if console.isJSON {
            for finding in findings { if let line = try? JSONText.of(WarningJSON(finding)) { console.warn(line) } }
        } else {
            console.warn(findings, count: findings.count, limit: FindingReport.limit) { finding in
                "warning: " + Escaping.text(finding.message) + (finding.remedy.map { " — " + $0 } ?? "")
            }
        }
    }
}

/// A finding as `--json` shows it: `{"warning": {"kind": …, "message": …}}`.
private struct WarningJSON: Encodable {
    let finding: ArchiveFinding

    init(_ finding: ArchiveFinding) { self.finding = finding }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        var warning = object.nestedContainer(keyedBy: JSONKey.self, forKey: "warning")
        try warning.encode(finding.kind.rawValue, forKey: "kind")
        try warning.encode(finding.message, forKey: "message")
        try warning.encode(finding.remedy, forKey: "remedy")
    }
}
