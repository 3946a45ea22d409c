// `diff --text`: the differing lines of files as a patch.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// Writes unified diffs of text files; other entries are only named.
struct TextReport: DifferenceReport {
    let console: Console
    let left: FileContents
    let right: FileContents
    /// Limits the diff to hunks that touch these lines of the new side; nil for all.
    var range: LineRange?

    func add(_ difference: Difference) throws {
        let (old, new) = (difference.left, difference.right)
        // Only changed file content can be shown as text; both sides must be files or absent.
        guard [old, new].allSatisfy({ $0 == nil || $0?.kind == .file }),
            difference.kind != .modified || difference.aspects.contains("content")
        else { return try console.output.line(NameReport.line(difference, console.style)) }
        guard max(old?.size ?? 0, new?.size ?? 0) <= FileContents.limit else {
            return try differ(difference.path, "Large files", " (more than \(ByteCount.text(FileContents.limit)))")
        }
        let (oldBytes, newBytes) = (try old.map(left.bytes), try new.map(right.bytes))
        if [oldBytes, newBytes].contains(where: { $0.map(TextLines.isBinary) ?? false }) {
            return try differ(difference.path, "Binary files", "")
        }
        let lines = UnifiedDiff(difference.path, left: oldBytes, right: newBytes).lines(touching: range)
        // An empty file has no lines to show.
        if lines.isEmpty { return try console.output.line(NameReport.line(difference, console.style)) }
        for line in lines { try write(line) }
    }

    func finish() {}

    private func differ(_ path: RelativePath, _ what: String, _ why: String) throws {
        let name = Escaping.text(path)
        try console.output.line("\(what) a/\(name) and b/\(name) differ\(why)")
    }

    /// Writes a line; in a pipe with its original bytes, so that `patch` gets the file's content.
    private func write(_ line: UnifiedDiff.Line) throws {
        guard console.output.isTerminal else { return try console.output.write(line.bytes + [UInt8(ascii: "\n")]) }
        let text = Escaping.prose(line.bytes, keepingTabs: true)
        let mark: Style.Mark? =
            switch line.role {
            case .header: .bold
            case .hunk: .cyan
            case .removed: .red
            case .added: .green
            case .note: .dim
            case .context: nil
            }
        try console.output.line(mark.map { console.style($0, text) } ?? text)
    }
}
