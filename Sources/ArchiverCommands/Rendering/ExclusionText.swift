// What is left out of a directory, in words.

internal import Exclusions

/// Exclusion rules as a user would tell them.
enum ExclusionText {
    /// One line; nil where only what ignore files name is left out, as always.
    static func text(_ rules: ExclusionRules) -> String? {
        var parts: [String] = []
        let shown = rules.patterns.prefix(patternsLimit)
        if !shown.isEmpty {
            let more = rules.patterns.count - shown.count
            let names = shown.map { Escaping.text($0) }.joined(separator: ", ")
            parts.append("left out: " + names + (more > 0 ? " and \(more) more" : ""))
        }
        let usual = ExclusionRules()
        if rules.ignoreFileNames != usual.ignoreFileNames {
            let names = rules.ignoreFileNames.map { Escaping.text($0) }.joined(separator: ", ")
            parts.append(names.isEmpty ? "no ignore files" : "ignore files: \(names)")
        }
        if let limit = rules.largerThan { parts.append("left out: files larger than \(ByteCount.text(limit))") }
        if rules.excludesCaches { parts.append("left out: caches") }
        if rules.crossesMounts { parts.append("other file systems are entered") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static let patternsLimit = 5

    /// What to tell before `directory` is captured with the rules that options give, or with the remembered ones.
    ///
    /// - Parameters:
    ///   - given: nil where no option says anything.
    ///   - remembered: nil where there is no snapshot yet.
    ///   - isAside: whether the given ones are for this time only.
    static func remark(
        _ directory: [UInt8], given: ExclusionRules?, remembered: ExclusionRules?, isAside: Bool
    ) -> String? {
        let name = Escaping.text(directory)
        guard let remembered else { return nil }
        guard let given, given != remembered else {
            guard given == nil, let text = text(remembered) else { return nil }
            return "\(name): as before, \(text); --reset-exclusions ends that"
        }
        let (before, now) = (text(remembered) ?? "nothing left out", text(given) ?? "nothing left out")
        if isAside { return "\(name): this once, \(now); else, \(before); --reset-exclusions changes that for good" }
        return "\(name): from now on, \(now); before, \(before)"
    }
}
