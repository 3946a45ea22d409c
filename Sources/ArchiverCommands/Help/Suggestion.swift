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
        "ls-files": ["show"], "rebuild-index": ["repair"], "compact": ["prune"], "rewrite": ["purge"],
        "export-tar": ["restore"], "clean": ["forget", "prune"], "describe": ["show"], "whatchanged": ["log"],
        "switch": ["restore"], "web": ["browse"], "ui": ["browse"], "open": ["browse"], "when": ["log"],
    ]

    /// What there is instead, for commands of other programs without a counterpart.
    private static let commandHabits = [
        "merge": "each root has one line of history; 'archiver restore' brings back any part of it",
        "branch": "each root has one line of history; 'archiver label' names a snapshot",
        "unlock": "a lock ends with its process: there is nothing to unlock",
        "break-lock": "a lock ends with its process: there is nothing to unlock",
        "mv": "a moved directory goes on with its history; 'archiver roots move' joins two",
        "rename": "a moved directory goes on with its history; 'archiver roots move' joins two",
        "key": "archives are not encrypted; only their owner may read them",
    ]

    /// What there is instead of a command of another program; nil if nothing is known about it.
    static func remedy(forCommand word: String) -> String? { commandHabits[word] }

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

    /// What is true already, or how else it is said, for options of other programs; by command and option.
    private static let optionHabits = [
        "log --oneline": "each version is one line",
        "log --follow": "renames are followed, unless --no-follow is given",
        "log -S": "'archiver grep' searches all versions", "log -G": "'archiver grep' searches all versions",
        "diff --cached": "without arguments, diff compares with the latest snapshot",
        "diff --staged": "without arguments, diff compares with the latest snapshot",
        "diff --name-only": "without --patch, diff shows only names",
        "diff --name-status": "without --patch, diff shows only names", "status -s": "'-q' shows one line a root",
        "status --short": "'-q' shows one line a root", "log --pretty": "'--format lines' is for programs",
        "log --graph": "each root has one line of history; 'archiver turns' and 'archiver sessions' group it",
        "diff -w": "'--word-diff' shows which words differ",
        "restore --source": "name the snapshot before the paths: archiver restore SNAPSHOT PATH",
        "restore --include": "name the paths after the snapshot: archiver restore SNAPSHOT PATH",
        "grep -r": "directories are searched with all that is in them",
        "grep -R": "directories are searched with all that is in them",
        "grep -e": "write the pattern without an option",
        "find --snapshot": "did you mean '--at'?",
        "find -name": "write the pattern without an option: archiver find PATTERN",
        "find -iname": "write the pattern without an option: archiver find -i PATTERN",
        "log --reverse": "'archiver list' has the newest last",
        "log --author": "a snapshot has a cause, but no author: 'archiver turns' lists marked turns",
        "grep -c": "'archiver grep -l' prints each path once; wc(1) counts",
        "prune --max-unused": "'archiver keep --max-size' limits the archive",
    ]

    /// Options that other programs take before the command.
    private static let firstOptions = [
        "-C": "change into the directory, or name it with --root", "-r": "'--archive' names the archive",
        "--repo": "'--archive' names the archive", "--git-dir": "'--archive' names the archive",
    ]

    /// What to write instead of an option before the command; nil if nothing is known about it.
    static func remedy(forFirst option: String) -> String? { firstOptions[option] }

    /// The names that `word` may mean, as "'status' or 'show'"; nil if no name is similar.
    static func words(for word: String, among names: [String]) -> String? {
        let meant = synonyms[word]?.filter { name in names.contains { name == $0 || name.hasPrefix($0 + " ") } } ?? []
        let all = meant.isEmpty ? nearest(to: word, among: names).map { [$0] } ?? [] : meant
        return all.isEmpty ? nil : all.map { "'\($0)'" }.joined(separator: " or ")
    }

    /// What to write instead of an option of several letters after one hyphen, each of which is an option of its own.
    ///
    /// - Parameter help: the help of the command, which lists its options.
    static func remedy(forOneHyphen words: [String], of command: String?, _ help: String) -> String? {
        for word in words where word.count > 2 && word.hasPrefix("-") && !word.hasPrefix("--") {
            if let habit = optionHabits["\(command ?? "") \(word)"] { return habit }
            if ["-version", "-help"].contains(word) || help.contains("-\(word) ") || help.contains("-\(word)\n") {
                return "did you mean '-\(word)'?"
            }
        }
        return nil
    }

    /// What to write instead of an option that a command does not have; nil if nothing is known about it.
    ///
    /// - Parameter help: the help of the command, which lists its options.
    static func remedy(for option: String, of command: String?, _ help: String) -> String? {
        if let habit = optionHabits["\(command ?? "") \(option)"] { return habit }
        if option.hasPrefix("--keep-"), ["forget", "prune"].contains(command) {
            return "'archiver keep' sets which snapshots are kept"
        }
        // As in `log -3`.
        if let count = UInt(option.dropFirst()), help.contains("-n,") { return "did you mean '-n \(count)'?" }
        if let meant = optionSynonyms[option], help.contains(meant) { return "did you mean '\(meant)'?" }
        guard option.hasPrefix("--") else { return nil }
        let options = Set(help.matches(of: /--([a-z][a-z0-9-]+)/).map { String($0.1) })
        return nearest(to: String(option.dropFirst(2)), among: options.sorted()).map { "did you mean '--\($0)'?" }
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
