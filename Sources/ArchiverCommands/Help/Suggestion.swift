// Suggests the command that a user may have meant.

/// Suggestions for misspelt or unknown words.
enum Suggestion {
    /// Names that other programs use for commands.
    private static let synonyms = [
        "ls": ["show", "list"], "snapshots": ["list"], "history": ["log"], "checkout": ["restore"],
        "revert": ["restore"], "reset": ["restore", "undo"], "get": ["restore"], "backup": ["capture"],
        "save": ["capture"], "commit": ["capture"], "snapshot": ["capture"], "init": ["watch"], "start": ["watch"],
        "add": ["watch", "capture"], "track": ["watch"], "verify": ["check"], "fsck": ["check"],
        "rebuild": ["repair"], "dump": ["cat"], "search": ["find", "grep"], "compare": ["diff"],
        "oplog": ["operations"], "reflog": ["operations"], "info": ["status", "show"], "stats": ["usage"],
        "du": ["usage"], "rm": ["forget", "purge"], "delete": ["forget", "purge"], "remove": ["forget", "purge"],
        "tag": ["label"], "annotate": ["blame"], "gc": ["prune"], "mount": ["browse"], "gui": ["browse"],
        "exclude": ["roots set"], "create": ["capture"], "extract": ["restore"], "stash": ["capture", "undo"],
        "recover": ["repair", "restore"], "cp": ["restore"], "diffs": ["diff"], "serve": ["browse"],
    ]

    /// Names that other programs use for options.
    private static let optionSynonyms = [
        "--to": "--target", "--into": "--target", "--output": "--target", "-o": "--target", "--last": "--limit",
        "--max-count": "--limit", "--count": "--limit", "--text": "--patch", "--directory": "--root",
        "--path": "--root", "--repo": "--archive", "-r": "--archive", "--tag": "--label", "--after": "--since",
        "--before": "--until", "--keep-daily": "--daily", "--keep-hourly": "--hourly", "--keep-weekly": "--weekly",
        "--keep-last": "--each", "--force": "--yes", "-f": "--yes", "-n": "--dry-run", "--patch-with-stat": "--patch",
        "--color-words": "--word-diff", "--simulate": "--dry-run", "--include": "--exclude", "-V": "--version",
        "-version": "--version", "-help": "--help", "-a": "--all", "-u": "--patch", "--read-data": "--data",
        "--verify-data": "--data", "--name-only": "--names", "--keep-monthly": "--weekly",
    ]

    /// The names that `word` may mean, as "'status' or 'show'"; nil if no name is similar.
    static func words(for word: String, among names: [String]) -> String? {
        let meant = synonyms[word]?.filter { name in names.contains { name == $0 || name.hasPrefix($0 + " ") } } ?? []
        let all = meant.isEmpty ? nearest(to: word, among: names).map { [$0] } ?? [] : meant
        return all.isEmpty ? nil : all.map { "'\($0)'" }.joined(separator: " or ")
    }

    /// The option of a command that `option` means.
    ///
    /// - Parameter help: the help of the command, which lists its options.
    static func option(for option: String, in help: String) -> String? {
        guard let meant = optionSynonyms[option], help.contains(meant) else { return nil }
        return meant
    }

    /// The name that `word` most likely means; nil if no name is similar.
    static func nearest(to word: String, among names: [String]) -> String? {
        let begun = names.filter { word.count >= 3 && $0.hasPrefix(word) }
        if begun.count == 1 { return begun[0] }
        let most = word.count < 4 ? 1 : word.count < 8 ? 2 : 3
        let near = names.map { ($0, distance($0, word)) }.filter { $0.1 <= most }
        return near.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    /// The number of letters to change, delete, insert, or swap with a neighbour (edit distance).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (a, b) = (Array(left), Array(right))
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, beforeLast[j - 1] + 1) }
                row.append(least)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
