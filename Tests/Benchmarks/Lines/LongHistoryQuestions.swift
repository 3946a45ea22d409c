// Queries of an archive with a million snapshots: the time depends on the size of the answer.

internal import SystemPackage

struct LongHistoryQuestions: Line {
    let name = "questions"
    let summary = "log, find, deleted, changes, sessions and selectors among a million snapshots"
    let diskBytes = 8 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let count = workshop.scale.historySnapshots
        let store = workshop.place("store")
        workshop.say("making an archive of \(Figure.count(count)) snapshots")
        // In a process of its own, as its memory would otherwise count for every program that this one starts.
        try Helper.command("history", store.string, String(count)).run()
        let archiver = workshop.archiver
        let root = ["--root", LongHistory.root.string]
        let asked: [(String, [String])] = [
            ("list --limit 5", ["list", "--limit", "5"]), ("log FILE", ["log", LongHistory.file]),
            ("log -n 5 of a file with many versions", ["log", "-n", "5", LongHistory.hot]),
            ("log -n 20 of a directory", ["log", "-n", "20", "d7"]), ("log -n 20", ["log", "-n", "20"]),
            ("find a name", ["find", "f10007"]), ("find, some 100 names", ["find", "f101*"]),
            ("deleted", ["deleted"]), ("deleted --since 30d", ["deleted", "--since", "30d"]),
            ("changes", ["changes"]), ("changes session~3", ["changes", "session~3"]),
            ("sessions -n 50", ["sessions", "-n", "50"]), ("show latest~5", ["show", "latest~5"]),
            ("show latest~\(count / 2)", ["show", "latest~\(count / 2)"]), ("show @100d", ["show", "@100d"]),
            ("show session~2", ["show", "session~2"]), ("cat @100d:FILE", ["cat", "@100d:\(LongHistory.file)"]),
            ("blame FILE", ["blame", LongHistory.file]),
            (
                "complete a selector",
                ["---completion", "show", "--", "positional@0", "2", "3", "archiver", "show", "lat"]
            ),
        ]
        let title = "\(Figure.count(count)) snapshots"
        var rows = try asked.flatMap { what, words in
            let isCompletion = words.first?.hasPrefix("---") ?? false
            let command =
                isCompletion
                ? Command([archiver.binary] + words, environment: ["ARCHIVER_ARCHIVE": store.string])
                : archiver.command(words + root, store: store)
            return try workshop.contest(
                name, "\(title): \(what)", [Contender(archiver.name) { _ in try workshop.median(of: command) }],
                goals: [.seconds(0.050)])
        }
        let quiet = archiver.command(["show", "@1d", "--root", LongHistory.quiet.string], store: store)
        rows += try workshop.contest(
            name, "\(title): show @1d of another root",
            [Contender(archiver.name) { _ in try workshop.median(of: quiet) }], goals: [.seconds(0.050)])
        workshop.remove(store)
        return rows
    }
}
