// Suggests the command that a user may have meant.

/// Suggestions for misspelt or unknown words.
enum Suggestion {
    /// Names that other programs use for a command.
    private static let synonyms = [
        "ls": "show", "snapshots": "list", "history": "log", "checkout": "restore", "revert": "restore",
        "get": "restore",
        "backup": "capture", "save": "capture", "commit": "capture", "snapshot": "capture", "init": "watch",
        "start": "watch", "add": "watch", "verify": "check", "fsck": "check", "rebuild": "repair", "dump": "cat",
        "search": "find", "compare": "diff", "oplog": "operations",
    ]

    /// The name that `word` most likely means; nil if no name is similar.
    static func nearest(to word: String, among names: [String]) -> String? {
        if let synonym = synonyms[word], names.contains(synonym) { return synonym }
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
