// Where the parts of a check put what they find.

internal import ArchiveFormat
internal import FileIO

/// The result of a check while it is made.
final class CheckReport {
    var result = CheckResult()

    /// Findings that are kept; a damaged archive may give millions.
    private static let findingsLimit = 1000

    func find(_ message: String, snapshot: SnapshotID? = nil, path: RelativePath? = nil, remedy: String? = nil) {
        result.findingCount += 1
        guard result.findings.count < CheckReport.findingsLimit else { return }
        result.findings.append(CheckFinding(message: message, snapshot: snapshot, path: path, remedy: remedy))
    }

    /// Damage of what is there once more.
    func record(spare message: String) {
        result.spareDamageCount += 1
        if result.spareDamage.count < CheckReport.findingsLimit { result.spareDamage.append(message) }
    }

    /// Something that a new catalogue mends.
    func find(inCatalogue message: String, snapshot: SnapshotID? = nil) {
        find(message, snapshot: snapshot, remedy: "run 'archiver repair --catalogue'")
    }
}
