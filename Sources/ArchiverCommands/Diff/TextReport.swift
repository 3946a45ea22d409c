// `diff --patch`: the differing lines of files as a patch.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import TextDiff

/// Reads and compares the texts of two sides, on any thread.
struct TextComparison: Sendable {
    let left: FileContents
    let right: FileContents

    /// How a difference is shown.
    enum Shown: Sendable {
        /// By its name and what changed.
        case name
        /// As a renamed file with the same content.
        case renamed
        /// As two files that differ: what they are, and why their lines are not shown.
        case differing(String, String)
        case lines([UnifiedDiff.Line])
    }

    /// Returns how to show a difference.
    ///
    /// - Parameter range: limits the diff to hunks that touch these lines of the new side; nil for all.
    func shown(_ difference: Difference, touching range: LineRange? = nil) throws -> Shown {
        let (old, new) = (difference.left, difference.right)
        // Only changed file content can be shown as text; both sides must be files or absent.
        guard [old, new].allSatisfy({ $0 == nil || $0?.kind == .file }),
            difference.kind != .modified || difference.formerPath != nil || difference.aspects.contains("content")
        else { return .name }
        if difference.formerPath != nil, !difference.aspects.contains("content") { return .renamed }
        guard max(old?.size ?? 0, new?.size ?? 0) <= FileContents.limit else {
            return .differing("Large files", " (more than \(ByteCount.text(FileContents.limit)))")
        }
        let (oldBytes, newBytes) = (try old.map(left.bytes), try new.map(right.bytes))
        if [oldBytes, newBytes].contains(where: { $0.map(TextLines.isBinary) ?? false }) {
            return .differing("Binary files", "")
        }
        let diff = UnifiedDiff(difference.path, formerPath: difference.formerPath, left: oldBytes, right: newBytes)
        let lines = diff.lines(touching: range)
        // An empty file has no lines to show; of a range of lines, nothing may have changed.
        return lines.isEmpty && difference.kind == .modified ? .name : .lines(lines)
    }
}

/// Writes unified diffs of text files, renames and empty files as `git apply` and `patch -p1` read them; other entries
/// are only named.
struct TextReport: DifferenceReport {
    let console: Console
    let texts: TextComparison
    /// Whether to show changed words within lines instead of a patch.
    let showsWords: Bool

    init(_ console: Console, left: FileContents, right: FileContents, showsWords: Bool = false) {
        (self.console, self.showsWords) = (console, showsWords)
        texts = TextComparison(left: left, right: right)
    }

    func add(_ difference: Difference) throws { try write(difference, texts.shown(difference)) }

    /// Writes a difference as it is to be shown.
    func write(_ difference: Difference, _ shown: TextComparison.Shown) throws {
        switch shown {
        case .name: try console.output.line(NameReport.line(difference, console.style))
        case .renamed: try write(gitHeader(difference))
        case .differing(let what, let why):
            let (old, new) = (Escaping.text(difference.formerPath ?? difference.path), Escaping.text(difference.path))
            try console.output.line("\(what) a/\(old) and b/\(new) differ\(why)")
        case .lines(let lines):
            try write(gitHeader(difference))
            if showsWords || console.style.isOn {
                try WordReport(console, showsWords: showsWords).write(lines)
            } else {
                try write(lines)
            }
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
