// The common form of all refusals.

import TestSupport
import Testing

/// Expects `outcome` to be a refusal in one line that names `thing`.
func expectRefusal(
    _ outcome: ChildProcess.Outcome, _ status: Int32, naming thing: String,
    at location: SourceLocation = #_sourceLocation
) {
    #expect(outcome.status == status, "\(outcome.errorText)", sourceLocation: location)
    let lines = outcome.errorText.split(separator: "\n")
    #expect(lines.count == 1, "\(outcome.errorText)", sourceLocation: location)
    #expect(lines.first?.hasPrefix("archiver: ") == true, sourceLocation: location)
    #expect(lines.first?.contains(thing) == true, "\(outcome.errorText)", sourceLocation: location)
    #expect(lines.first?.contains(" — ") == true, "no remedy: \(outcome.errorText)", sourceLocation: location)
    #expect(outcome.output.isEmpty, sourceLocation: location)
}
