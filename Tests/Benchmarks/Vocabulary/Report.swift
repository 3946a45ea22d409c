// The results of a benchmark run, as text and as JSON.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// The results of a benchmark run.
struct Report: Codable {
    /// A condition under which the figures were taken: its name and value.
    struct Circumstance: Codable, Equatable {
        let name: String
        let value: String
    }

    var circumstances: [Circumstance]
    var rows: [Row] = []

    /// The circumstances and the table.
    var text: String {
        circumstances.map { "\($0.name): \($0.value)\n" }.joined() + "\n" + Table(of: rows).markdown
    }

    /// Writes the report, with all single runs, as JSON.
    func write(to path: FilePath) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(filePath: path.string))
    }
}
