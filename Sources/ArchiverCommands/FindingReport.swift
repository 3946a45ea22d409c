// What opening an archive found, on stderr: a line each, or a JSON object each.

internal import ArchiveStorage

/// Findings that a command comes upon before it does its work.
struct FindingReport {
    private let findings: [ArchiveFinding]

    /// More than these help nobody: `check` tells all.
    private static let limit = 5

    init(_ findings: [ArchiveFinding]) { self.findings = findings }

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
