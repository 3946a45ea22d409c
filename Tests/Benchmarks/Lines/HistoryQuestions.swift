// Queries about the history of one file, compared with git's in the same repository.

internal import SystemPackage

struct HistoryQuestions: Line {
    let name = "history"
    let summary = "log, blame and grep over the states of a git repository"
    let diskBytes = 2 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        guard let repository = workshop.repository, Command.isInstalled("git") else {
            workshop.say("\(name) needs --repository and git: left out")
            return []
        }
        let history = try GitHistory(of: repository, count: workshop.scale.states, index: workshop.place("index"))
        let (tree, store) = (workshop.place("states"), workshop.place("store"))
        try Command("mkdir", tree.string).run()
        let restic = Restic()
        let resticStore = workshop.installed([restic]).isEmpty ? nil : workshop.place("restic")
        if let resticStore { try restic.create(resticStore) }
        for (number, commit) in history.commits.enumerated() {
            try history.checkOut(commit, into: tree)
            for command in workshop.archiver.capture(tree, into: store) { try command.run() }
            if let resticStore { for command in restic.capture(tree, into: resticStore) { try command.run() } }
            if number % 50 == 49 { workshop.say("\(name): \(number + 1) states") }
        }
        let file = try history.mostChangedFile(in: tree)
        let word = FilePath(file).stem ?? file
        workshop.say("\(name): asking about \(file), and for \(word)")
        let archiver = workshop.archiver
        func ask(_ words: String...) -> Contender {
            var command = archiver.command(words + ["--root", tree.string], store: store)
            // A query that finds nothing is not a failure.
            command.expected = [0, 1]
            return Contender(archiver.name) { [command] _ in try command.measured() }
        }
        func git(_ words: String...) -> Contender {
            Contender("git") { _ in try history.git(words).measured() }
        }
        let range = history.range
        var rows = try workshop.contest(
            name, "log of the file that changed most often in \(history.commits.count) states",
            [ask("log", file), git("log", "--first-parent", "--follow", "--format=%H", range, "--", file)],
            yardstick: "git", goals: [.time(times: 0.25, of: "git")])
        rows += try workshop.contest(
            name, "blame of it",
            [ask("blame", file), git("blame", "--first-parent", "--porcelain", range, "--", file)],
            yardstick: "git", goals: [.time(times: 0.25, of: "git")])
        rows += try workshop.contest(
            name, "all lines with its name in any state",
            [ask("grep", "-F", word), git("log", "--first-parent", "--format=%H", "-S\(word)", range)],
            yardstick: "git", goals: [.time(times: 1, of: "git")])
        let name = FilePath(file).lastComponent?.string ?? file
        var finders = [ask("find", name)]
        if let resticStore {
            finders.append(Contender(restic.name) { _ in try restic.find(name, in: resticStore).measured() })
        }
        rows += try workshop.contest(
            self.name, "find of its name in every state", finders, yardstick: "restic",
            goals: [.time(times: 1, of: "restic")])
        for what in ["deleted", "changes", "sessions"] {
            rows += try workshop.contest(self.name, what, [ask(what)], goals: [.seconds(0.05)])
        }
        for place in [store, resticStore].compactMap({ $0 }) { workshop.remove(place) }
        return rows
    }
}
