// `diff --patch`: the differing lines of files as a patch.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// Writes unified diffs of text files, renames and empty files as `git apply` and `patch -p1` read them; other entries
/// are only named.
struct TextReport: DifferenceReport {
    let console: Console
    let left: FileContents
    let right: FileContents
    /// Limits the diff to hunks that touch these lines of the new side; nil for all.
    var range: LineRange?
    /// Whether to show changed words within lines instead of a patch.
    var showsWords = false

    func add(_ difference: Difference) throws {
        let (old, new) = (difference.left, difference.right)
        // Only changed file content can be shown as text; both sides must be files or absent.
        guard [old, new].allSatisfy({ $0 == nil || $0?.kind == .file }),
            difference.kind != .modified || difference.formerPath != nil || difference.aspects.contains("content")
        else { return try console.output.line(NameReport.line(difference, console.style)) }
        if difference.formerPath != nil, !difference.aspects.contains("content") {
            return try write(gitHeader(difference))
        }
        guard max(old?.size ?? 0, new?.size ?? 0) <= FileContents.limit else {
            return try differ(difference, "Large files", " (more than \(ByteCount.text(FileContents.limit)))")
        }
        let (oldBytes, newBytes) = (try old.map(left.bytes), try new.map(right.bytes))
        if [oldBytes, newBytes].contains(where: { $0.map(TextLines.isBinary) ?? false }) {
            return try differ(difference, "Binary files", "")
        }
        let diff = UnifiedDiff(difference.path, formerPath: difference.formerPath, left: oldBytes, right: newBytes)
        let lines = diff.lines(touching: range)
        // An empty file has no lines to show; of a range of lines, nothing may have changed.
        if lines.isEmpty, difference.kind == .modified {
            return try console.output.line(NameReport.line(difference, console.style))
        }
        try write(gitHeader(difference))
        if showsWords || console.style.isOn {
            try WordReport(console, showsWords: showsWords).write(lines)
        } else {
            try write(lines)
        }
    }

    /// The lines before those of the unified diff: git reads them as the beginning of a file's part.
    private func gitHeader(_ difference: Difference) -> [UnifiedDiff.Line] {
        let (old, new) = (difference.formerPath ?? difference.path, difference.path)
        let names =
            UnifiedDiff.name("a/", old, isLast: false) + [UInt8(ascii: " ")]
            + UnifiedDiff.name("b/", new, isLast: false)
        var lines = [Array("diff --git ".utf8) + names]
        if difference.formerPath != nil {
            lines += [UnifiedDiff.name("rename from ", old), UnifiedDiff.name("rename to ", new)]
        }
        if let entry = difference.right ?? difference.left, difference.kind != .modified {
            let mode = entry.permissions & 0o100 == 0 ? "100644" : "100755"
            lines.append(Array("\(difference.kind == .added ? "new" : "deleted") file mode \(mode)".utf8))
        }
        return lines.map { UnifiedDiff.Line(role: .header, bytes: $0) }
    }

    func finish() {}

    private func differ(_ difference: Difference, _ what: String, _ why: String) throws {
        let (old, new) = (Escaping.text(difference.formerPath ?? difference.path), Escaping.text(difference.path))
        try console.output.line("\(what) a/\(old) and b/\(new) differ\(why)")
    }

    /// Writes lines; in a pipe with their original bytes, so that `patch` gets the file's content.
    private func write(_ lines: [UnifiedDiff.Line]) throws {
        for line in lines {
            guard console.output.isTerminal else {
                try console.output.write(line.bytes + [UInt8(ascii: "\n")])
                continue
            }
            let text = Escaping.prose(line.bytes, keepingTabs: true)
            try console.output.line(line.role.mark.map { console.style($0, text) } ?? text)
        }
    }
}

extension UnifiedDiff.Line.Role {
    /// The colour of a line; nil for none.
    var mark: Style.Mark? {
        switch self {
        case .header: .bold
        case .hunk: .cyan
        case .removed: .red
        case .added: .green
        case .note: .dim
        case .context: nil
        }
    }
}
