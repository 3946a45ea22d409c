// Files of gigabytes: memory must not grow with them, and changes must cost only what has changed.

internal import SystemPackage

/// A sparse file of 10 GiB with ten small parts of data.
struct SparseFile: Line {
    let name = "large-sparse"
    let summary = "sparse file"
    let diskBytes = 1 << 29

    func run(in workshop: Workshop) throws -> [Row] {
        let bytes = 10 * workshop.scale.largeUnit
        let title = "sparse file of \(Figure.bytes(bytes))"
        return try workshop.withPlace("sparse") { tree in
            try LargeFiles.makeSparse(at: tree.appending("disk.image"), bytes: bytes)
            return try workshop.captureAndRestore(name, title, tree, peers: [Restic()])
        }
    }
}

/// A dense file of 2 GiB.
struct DenseFile: Line {
    let name = "large-dense"
    let summary = "dense file"
    let diskBytes = 12 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let bytes = 2 * workshop.scale.largeUnit
        let title = "dense file of \(Figure.bytes(bytes))"
        return try workshop.withPlace("dense") { tree in
            try LargeFiles.makeDense(at: tree.appending("data.bin"), bytes: bytes)
            return try workshop.captureAndRestore(name, title, tree, peers: [Restic(), Borg()])
        }
    }
}

/// A byte inserted at the front of a file of 1 GiB.
struct ByteInserted: Line {
    let name = "large-insert"
    let summary = "a byte inserted at the front of a large file"
    let diskBytes = 6 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let bytes = workshop.scale.largeUnit
        return try workshop.withPlace("insert") { tree in
            let file = tree.appending("data.bin")
            try LargeFiles.makeDense(at: file, bytes: bytes)
            return try workshop.captureChange(
                name, "a byte inserted at the front of \(Figure.bytes(bytes))", tree, goals: [.storedBytes(1 << 20)]
            ) { change in
                try LargeFiles.makeDense(at: file, bytes: bytes, front: [UInt8](repeating: 0x2A, count: change))
            }
        }
    }
}

/// Lines appended to a log.
struct LinesAppended: Line {
    let name = "large-append"
    let summary = "100 bytes appended to a log"
    let diskBytes = 4 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let pieces = workshop.scale.largeUnit >> 22
        return try workshop.withPlace("append") { tree in
            let file = tree.appending("service.log")
            try Command("mkdir", tree.string).run()
            for piece in 0..<pieces { try TextFile.write(LargeFiles.text(piece), to: file, appending: true) }
            return try workshop.captureChange(
                name, "100 bytes appended to a log of \(Figure.bytes(pieces << 20))", tree
            ) { change in
                let text = Array("\(change) ".utf8) + [UInt8](repeating: 0x2E, count: 97)
                try TextFile.write(Array(text.prefix(99)) + [0x0A], to: file, appending: true)
            }
        }
    }
}

/// Ten random pages changed in a file of 100 MiB of noise, as a database does.
struct PagesChanged: Line {
    private static let (page, pages) = (4096, 10)

    let name = "large-pages"
    let summary = "ten random pages changed in a large file"
    let diskBytes = 1 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let bytes = 100 * workshop.scale.largeUnit >> 10
        return try workshop.withPlace("pages") { tree in
            let file = tree.appending("database")
            try LargeFiles.makeNoise(at: file, bytes: bytes)
            return try workshop.captureChange(
                name, "10 random pages of 4 KiB changed in \(Figure.bytes(bytes))", tree, peers: [Restic(), Borg()],
                goals: [.storedBytes(4 * PagesChanged.pages * PagesChanged.page)]
            ) { change in
                try LargeFiles.changePages(
                    of: file, bytes: bytes, count: PagesChanged.pages, page: PagesChanged.page, seed: UInt64(change))
            }
        }
    }
}

extension Workshop {
    /// Measures first captures and restores of `tree`.
    fileprivate func captureAndRestore(
        _ line: String, _ title: String, _ tree: FilePath, peers: [any StoreProgram]
    ) throws -> [Row] {
        let programs = installed([archiver] + peers)
        let stores = programs.map { _ in place("store") }
        defer { for store in stores { remove(store) } }
        let captures = zip(programs, stores).map { program, store in
            Contender(program.name) { _ in
                self.remove(store)
                try program.create(store)
                var run = try program.capture(tree, into: store).measured()
                run.storedBytes = try program.storedBytes(store)
                return run
            }
        }
        let restores = zip(programs, stores).compactMap { program, store -> Contender? in
            guard let program = program as? any RestoringProgram else { return nil }
            return Contender(program.name) { _ in
                try self.withPlace("restored") { target in
                    let run = try program.restoreLatest(of: tree, from: store, to: target).measured()
                    try TreeComparison.check(tree, program.restored(tree, in: target))
                    return run
                }
            }
        }
        let goals = [Goal.memory(bytes: 150 << 20)]
        return try contest(line, "first capture, \(title)", captures, yardstick: "restic", goals: goals)
            + contest(line, "restore, \(title)", restores, yardstick: "restic", goals: goals)
    }

    /// Measures captures of `tree` by archiver and others, after each change that `change` makes.
    fileprivate func captureChange(
        _ line: String, _ title: String, _ tree: FilePath, peers: [any StoreProgram] = [Restic()], goals: [Goal] = [],
        change: (Int) throws -> Void
    ) throws -> [Row] {
        let programs = installed([archiver] + peers)
        let stores = programs.map { _ in place("store") }
        defer { for store in stores { remove(store) } }
        for (program, store) in zip(programs, stores) {
            try program.create(store)
            for command in program.capture(tree, into: store) { try command.run() }
        }
        var runs = [[Measurement]](repeating: [], count: programs.count)
        for round in 1...rounds {
            try change(round)
            for (index, program) in programs.enumerated() {
                let before = try program.storedBytes(stores[index])
                var run = try program.capture(tree, into: stores[index]).measured()
                run.storedBytes = try program.storedBytes(stores[index]) - before
                say("\(line), round \(round): \(program.name) \(Figure.time(run.seconds))")
                runs[index].append(run)
            }
        }
        return programs.indices.map { index in
            Row(
                line, title, programs[index].name, runs[index], yardstick: "restic",
                goals: index == 0 ? relevant(goals) : [])
        }
    }
}
