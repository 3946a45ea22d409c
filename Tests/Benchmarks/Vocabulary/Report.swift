// All that a run of the benchmark found, as text and as JSON.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// The outcome of a run of the benchmark.
struct Report: Codable {
    /// Where and with what the figures were taken: name and value, in order.
    struct Circumstance: Codable, Equatable {
        let name: String
        let value: String
    }

    var circumstances: [Circumstance]
    var rows: [Row] = []

    /// What was done on which machine, and the table.
    var text: String {
        circumstances.map { "\($0.name): \($0.value)\n" }.joined() + "\n" + Table(of: rows).markdown
    }

    /// Writes the report with every single run as JSON.
    func write(to path: FilePath) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(filePath: path.string))
    }
}
