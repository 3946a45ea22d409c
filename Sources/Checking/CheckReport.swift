// Collects the findings of all parts of a check.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO

/// The result of a running check.
final class CheckReport {
    var result = CheckResult()

    /// The most findings that are stored; a damaged archive may have millions.
    private static let findingsLimit = 1000

    func find(_ message: String, snapshot: SnapshotID? = nil, path: RelativePath? = nil, remedy: String? = nil) {
        result.findingCount += 1
        guard result.findings.count < CheckReport.findingsLimit else { return }
        result.findings.append(CheckFinding(message: message, snapshot: snapshot, path: path, remedy: remedy))
    }

    /// Records damage to a chunk that has another, readable copy.
    func record(spare message: String) {
        result.spareDamageCount += 1
        if result.spareDamage.count < CheckReport.findingsLimit { result.spareDamage.append(message) }
    }

    /// Records a finding that a rebuilt catalogue repairs.
    func find(inCatalogue message: String, snapshot: SnapshotID? = nil) {
        find(message, snapshot: snapshot, remedy: Advice.rebuildCatalogue.text)
    }
}
