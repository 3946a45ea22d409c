// Captures of successive states of a real git repository: the size of the history.

internal import SystemPackage
internal import TestSupport

struct GitReplay: Line {
    let name = "git-replay"
    let summary = "successive states of a git repository, each captured"
    let diskBytes = 2 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        guard let repository = workshop.repository, Command.isInstalled("git") else {
            workshop.say("\(name) needs --repository and git: left out")
            return []
        }
        let history = try GitHistory(
            of: repository, count: workshop.scale.states, index: workshop.place("index"))
        let tree = workshop.place("states")
        try Command("mkdir", tree.string).run()
        let programs = workshop.installed(
            [workshop.archiver, Restic(), Borg(), Borg(compression: "zlib"), Git()])
        let stores = programs.map { _ in workshop.place("store") }
        for (program, store) in zip(programs, stores) { try program.create(store) }
        var sums = [Measurement](repeating: Measurement(seconds: 0), count: programs.count)
        var ids: [String] = []
        for (number, commit) in history.commits.enumerated() {
            try history.checkOut(commit, into: tree)
            for (index, program) in programs.enumerated() {
                for command in program.capture(tree, into: stores[index]) {
                    sums[index] = sums[index] + (try command.run())
                }
            }
            ids.append(try workshop.archiver.latest(of: tree, in: stores[0]))
            if number % 50 == 49 { workshop.say("\(name): \(number + 1) states") }
        }
        try check(history, ids, tree, stores[0], workshop)
        let work = "\(history.commits.count) successive states of a git repository, each captured"
        return try rows(work, programs, stores, sums, workshop)
    }

    /// Compares the last state and some others with git's.
    private func check(
        _ history: GitHistory, _ ids: [String], _ tree: FilePath, _ store: FilePath, _ workshop: Workshop
    ) throws {
        let archiver = workshop.archiver
        func compare(_ state: Int, with expected: FilePath, includesTimes: Bool) throws {
            try workshop.withPlace("restored") { target in
                try archiver.restore(ids[state], of: tree, from: store, to: target).run()
                try TreeComparison.check(expected, target, includesTimes: includesTimes)
            }
        }
        try compare(ids.count - 1, with: tree, includesTimes: true)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<5 {
            let state = random.below(ids.count)
            try workshop.withPlace("expected") { expected in
                try Command("mkdir", expected.string).run()
                try history.checkOut(
                    history.commits[state], into: expected, index: workshop.place("index"))
                try compare(state, with: expected, includesTimes: false)
            }
        }
    }

    private func rows(
        _ work: String, _ programs: [any StoreProgram], _ stores: [FilePath], _ sums: [Measurement],
        _ workshop: Workshop
    ) throws -> [Row] {
        var rows: [Row] = []
        for (index, program) in programs.enumerated() {
            var sum = sums[index]
            sum.storedBytes = try program.storedBytes(stores[index])
            if program is Archiver {
                var segments = sum
                segments.storedBytes = try workshop.archiver.segmentBytes(stores[index])
                rows.append(
                    Row(
                        name, work, "\(program.name), segments", [segments],
                        goals: workshop.relevant([.storedBytes(2_240_000)]), note: "as captured, no repacking"))
            }
            let goals = program is Archiver ? workshop.relevant([.storedBytes(3_500_000)]) : []
            rows.append(Row(name, work, program.name, [sum], yardstick: "restic", goals: goals))
            if let git = program as? Git {
                var packing = try git.pack(stores[index]).measured()
                packing.storedBytes = try git.storedBytes(stores[index])
                rows.append(Row(name, work, "then git gc --aggressive", [packing]))
            }
        }
        for store in stores { workshop.remove(store) }
        return rows
    }
}
