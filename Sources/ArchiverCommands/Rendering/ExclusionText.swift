// Exclusion rules as text.

internal import ArchiverKit
internal import Exclusions

/// Texts of exclusion rules.
enum ExclusionText {
    /// The rules in one line; nil for no rules.
    ///
    /// - Parameter namesDefault: whether to name the default rule for helper files of editors.
    static func text(_ rules: ExclusionRules, namesDefault: Bool = true) -> String? {
        var parts: [String] = []
        if namesDefault, rules.excludesEditorHelpers { parts.append("excludes helper files of editors") }
        let patterns = rules.patterns.dropFirst(
            rules.excludesEditorHelpers ? ExclusionRules.editorHelpers.count : 0)
        let shown = patterns.prefix(patternsLimit)
        if !shown.isEmpty {
            let more = patterns.count - shown.count
            let names = shown.map { Escaping.text($0) }.joined(separator: ", ")
            parts.append("excludes " + names + (more > 0 ? " and \(more) more" : ""))
        }
        let usual = ExclusionRules()
        if rules.ignoreFileNames != usual.ignoreFileNames {
            let names = rules.ignoreFileNames.map { Escaping.text($0) }.joined(separator: ", ")
            parts.append(names.isEmpty ? "no ignore files" : "ignore files: \(names)")
        }
        if let limit = rules.largerThan { parts.append("excludes files larger than \(ByteCount.text(limit))") }
        if rules.excludesCaches { parts.append("excludes caches") }
        if rules.crossesMounts { parts.append("crosses file systems") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static let patternsLimit = 5

    /// The remark before `directory` is captured with given or remembered rules; nil if there is nothing to remark.
    ///
    /// - Parameters:
    ///   - given: the rules from the options; nil if there are none.
    ///   - remembered: the rules of the root; nil if it has no snapshot yet.
    ///   - isAside: whether the given rules apply to this capture only.
    static func remark(
        _ directory: [UInt8], given: ExclusionRules?, remembered: ExclusionRules?, isAside: Bool
    ) -> String? {
        let name = Escaping.text(directory)
        guard let remembered else { return nil }
        guard let given, given != remembered else {
            guard given == nil, let text = text(remembered, namesDefault: false) else { return nil }
            return "\(name): as before, \(text); --reset-exclusions changes this"
        }
        // The default rule is mentioned only if it changes, or if there is no other.
        let changesDefault = given.excludesEditorHelpers != remembered.excludesEditorHelpers
        func all(_ rules: ExclusionRules) -> String {
            text(rules, namesDefault: changesDefault) ?? text(rules) ?? "no exclusions"
        }
        let (before, now) = (all(remembered), all(given))
        if isAside {
            return "\(name): only this time, \(now); otherwise, \(before); --reset-exclusions makes this permanent"
        }
        return "\(name): from now on, \(now); before, \(before)"
    }
}
