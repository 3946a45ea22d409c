// The output forms of `diff`.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO

/// Writes differences one by one, in walk order.
protocol DifferenceReport {
    mutating func add(_ difference: Difference) throws
    mutating func finish() throws
}

/// Names: `+ path`, `~ path (content, permissions)`, `- path`, `> path (was other)`.
struct NameReport: DifferenceReport {
    let console: Console
    /// The former paths of renamed directories; a person sees one line for a directory and what moved with it.
    private var moved: [RelativePath: RelativePath] = [:]

    init(console: Console) { self.console = console }

    mutating func add(_ difference: Difference) throws {
        if let former = difference.formerPath, console.isForPerson {
            if difference.right?.kind == .directory { moved[difference.path] = former }
            if let parent = difference.path.parent, let before = moved[parent], former.parent == before,
                former.name.elementsEqual(difference.path.name), !difference.aspects.contains("content")
            {
                return
            }
        }
        try console.output.line(NameReport.line(difference, console.style))
    }

    func finish() {}

    static func line(_ difference: Difference, _ style: Style) -> String {
        let aspects = difference.aspects
        let rest = aspects.isEmpty ? "" : " (" + aspects.joined(separator: ", ") + ")"
        let slash = (difference.right ?? difference.left)?.kind == .directory && !difference.path.isRoot ? "/" : ""
        let name = Escaping.text(difference.path) + slash
        if let former = difference.formerPath {
            return style(.cyan, "> \(name)") + " (was \(Escaping.text(former))\(slash))"
                + (aspects.contains("content") ? " (content)" : "")
        }
        let sign = difference.kind.sign
        return style(sign.mark, "\(sign.rawValue) \(name)") + rest
    }
}

/// Writes a line for each text file with its added and removed lines, and one line with all counts.
struct StatisticsReport: DifferenceReport {
    private let console: Console
    private let left: FileContents
    private let right: FileContents
    private var statistics = DifferenceStatistics()

    init(_ console: Console, _ archive: Archive, right: FileContents) {
        self.console = console
        left = .archive(archive)
        self.right = right
    }

    mutating func add(_ difference: Difference) throws {
        statistics.count(difference)
        if console.isJSON || !FileContents.isComparable(difference) { return }
        let name = Escaping.text(difference.path)
        let was = difference.formerPath.map { " (was \(Escaping.text($0)))" } ?? ""
        guard let counts = try FileContents.lineCounts(of: difference, left, right) else {
            return try console.output.line("  \(name)\(was) | not text")
        }
        try console.output.line("  \(name)\(was) | +\(counts.added) -\(counts.removed)")
    }

    func finish() throws {
        try console.output.line(console.isJSON ? JSONText.of(statistics) : statistics.text)
    }
}

/// Writes a JSON array.
struct JSONDifferenceReport: DifferenceReport {
    private var writer: JSONArrayWriter

    init(_ console: Console) throws { writer = try JSONArrayWriter(console.output) }

    mutating func add(_ difference: Difference) throws { try writer.append(DifferenceJSON(difference)) }

    func finish() throws { try writer.finish() }
}
