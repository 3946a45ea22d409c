// Forgets nine of ten states of a real git repository, and prunes them.

internal import FoundationEssentials
internal import SystemPackage

struct SpaceGivenBack: Line {
    let name = "prune"
    let summary = "nine of ten states of a git repository are forgotten, and their space is given back"
    let diskBytes = 2 << 30

    /// One of this many states stays.
    private static let kept = 10

    func run(in workshop: Workshop) throws -> [Row] {
        guard let repository = workshop.repository, Command.isInstalled("git") else {
            workshop.say("\(name) needs --repository and git: left out")
            return []
        }
        let history = try GitHistory(
            of: repository, count: workshop.scale.prunedStates, index: workshop.place("index"))
        let tree = workshop.place("states")
        try Command("mkdir", tree.string).run()
        let all: [any PruningProgram] = [workshop.archiver, Restic(), Borg()]
        let programs = all.filter(\.isInstalled)
        let stores = programs.map { _ in workshop.place("store") }
        defer { for store in stores { workshop.remove(store) } }
        for (program, store) in zip(programs, stores) { try program.create(store) }
        for (number, commit) in history.commits.enumerated() {
            try history.checkOut(commit, into: tree)
            for (program, store) in zip(programs, stores) {
                for command in program.capture(tree, into: store) { try command.run() }
            }
            if number % 50 == 49 { workshop.say("\(name): \(number + 1) states") }
        }
        let work = "nine of ten of \(history.commits.count) states forgotten, their space given back"
        return try zip(programs, stores).map { program, store in
            let before = try program.storedBytes(store)
            var run = try program.forget(allButEach: SpaceGivenBack.kept, in: store).measured()
            run.storedBytes = try program.storedBytes(store)
            workshop.say("\(name): \(program.name) \(Figure.time(run.seconds))")
            if let program = program as? any RestoringProgram {
                try workshop.withPlace("restored") { target in
                    try program.restoreLatest(of: tree, from: store, to: target).run()
                    try TreeComparison.check(tree, program.restored(tree, in: target))
                }
            }
            let goals: [Goal] = [.time(times: 0.2, of: "restic"), .memory(bytes: 100 << 20)]
            return Row(
                name, work, program.name, [run], yardstick: "restic",
                goals: program is Archiver ? workshop.relevant(goals) : [],
                note: "\(Figure.bytes(before)) stored before")
        }
    }
}

/// A program that forgets and prunes states.
private protocol PruningProgram: StoreProgram {
    /// The commands that forget and prune all states in `store` except every `count`th and the latest.
    func forget(allButEach count: Int, in store: FilePath) throws -> [Command]
}

/// Returns the `names` to forget, the oldest first.
private func going(_ names: [String], allButEach count: Int) -> [String] {
    names.dropLast().enumerated().filter { $0.offset % count != 0 }.map(\.element)
}

extension Archiver: PruningProgram {
    func forget(allButEach count: Int, in store: FilePath) throws -> [Command] {
        struct Listed: Decodable { let id: String }
        let json = try command("list", "--all", "--json", store: store).text()
        let ids = try JSONDecoder().decode([Listed].self, from: Data(json.utf8)).map { String($0.id.prefix(16)) }
        return [
            command(["forget"] + going(ids, allButEach: count), store: store),
            command("prune", "--now", store: store),
        ]
    }
}

extension Restic: PruningProgram {
    func forget(allButEach count: Int, in store: FilePath) throws -> [Command] {
        [command(["forget", "--prune"] + going(try ids(in: store), allButEach: count), store: store)]
    }
}

extension Borg: PruningProgram {
    func forget(allButEach count: Int, in store: FilePath) throws -> [Command] {
        let repository = store.appending("repository").string
        let names = try command(["list", "--short", repository], store: store).text()
            .split(separator: "\n").map(String.init)
        return [
            command(["delete", repository] + going(names, allButEach: count), store: store),
            command(["compact", repository], store: store),
        ]
    }
}
