// The time to list a store that is almost empty.

internal import SystemPackage

struct StartUp: Line {
    let name = "startup"
    let summary = "list a store with three snapshots"
    let diskBytes = 1 << 28

    func run(in workshop: Workshop) throws -> [Row] {
        let tree = workshop.place("few")
        try Command("mkdir", tree.string).run()
        let archiver = workshop.archiver
        let restic = Restic()
        let git = Git()
        let programs = workshop.installed([archiver, restic, git])
        let stores = programs.map { _ in workshop.place("store") }
        for (program, store) in zip(programs, stores) {
            try program.create(store)
            for state in 1...3 {
                try TextFile.write("\(program.name), state \(state)\n", to: tree.appending("file.txt"))
                for command in program.capture(tree, into: store) { try command.run() }
            }
        }
        var contenders = zip(programs, stores).map { program, store in
            let command =
                switch program {
                case is Restic: restic.list(store)
                case is Git: git.log(store)
                default: archiver.command("list", "--all", store: store)
                }
            return Contender(program is Git ? "git log" : program.name) { _ in try workshop.median(of: command) }
        }
        contenders.append(Contender("true") { _ in try workshop.median(of: Command("/bin/true")) })
        var rows = try workshop.contest(name, summary, contenders, yardstick: restic.name, goals: [.seconds(0.030)])
        rows[0].note = "binary of \(Figure.bytes(try TreeSize.file(FilePath(archiver.binary))))"
        return rows
    }
}
