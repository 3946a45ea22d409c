// Where benchmarks work: a directory for everything that is made, the programs, the rounds, and what lines share.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The place and the terms of a run of the benchmark.
final class Workshop {
    /// Holds everything that is made.
    let directory: FilePath
    let rounds: Int
    let scale: Scale
    let archiver: Archiver
    /// The git repository that is replayed; nil for none.
    let repository: FilePath?
    /// Corpora that are there, by name.
    private var corpora: [String: FilePath] = [:]
    /// Stores that hold the present state of a corpus, by name.
    private var stores: [String: FilePath] = [:]
    private var counter = 0
    /// What is to be removed.
    private var discarded: [FilePath] = []
    /// Where less is left on the disk, nothing waits for its removal.
    private static let spareBytes = 25 << 30

    init(directory: FilePath, rounds: Int, scale: Scale, archiver: FilePath, repository: FilePath?) {
        self.directory = directory
        self.rounds = rounds
        self.scale = scale
        self.archiver = Archiver(binary: archiver.string)
        self.repository = repository
    }

    /// What is going on, for whoever waits.
    func say(_ text: String) {
        let line = Array("bench: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    // MARK: Places

    /// A path in the work directory at which nothing is.
    func place(_ name: String) -> FilePath {
        counter += 1
        return directory.appending("\(name)-\(counter)")
    }

    /// Runs `body` with a path at which nothing is; what it made there is removed later.
    ///
    /// Not at once: for a while ext4 does not use the numbers of removed files again and has to look for others, which
    /// would be counted to whoever makes files next.
    func withPlace<Result>(_ name: String, _ body: (FilePath) throws -> Result) throws -> Result {
        if try freeBytes() < Workshop.spareBytes { tidyUp() }
        let place = place(name)
        defer { discarded.append(place) }
        return try body(place)
    }

    /// Removes what is not needed any more.
    func tidyUp() {
        for place in discarded { remove(place) }
        discarded = []
    }

    func remove(_ path: FilePath) {
        if (try? Command("rm", "-rf", path.string).run()) != nil { return }
        // A copied tree may hold directories that their owner cannot write to.
        _ = try? Command("chmod", "-R", "u+w", path.string).run()
        _ = try? Command("rm", "-rf", path.string).run()
    }

    /// Bytes that can still be written in the work directory.
    func freeBytes() throws -> Int {
        Int(clamping: try FileSystem.freeBytes(of: Descriptor.open(directory, O_RDONLY | O_DIRECTORY)))
    }

    // MARK: What lines share

    /// The tree of `corpus`, made when it is first asked for.
    func tree(of corpus: Corpus) throws -> FilePath {
        if let known = corpora[corpus.name] { return known }
        let path = directory.appending("corpus-\(corpus.name)")
        say("making \(corpus.name)")
        try corpus.make(path)
        corpora[corpus.name] = path
        return path
    }

    /// A store of `program` that has captured the tree of `corpus`, perhaps some changes ago.
    func store(of program: any StoreProgram, with corpus: Corpus) throws -> FilePath {
        let key = "\(program.name) \(corpus.name)"
        if let known = stores[key] { return known }
        let tree = try tree(of: corpus)
        say("\(program.name) captures \(corpus.name), not measured")
        let store = place("store")
        try program.create(store)
        for command in program.capture(tree, into: store) { try command.run() }
        stores[key] = store
        return store
    }

    /// Keeps `store` as one that has captured the tree of `corpus`, in place of an older one.
    func keep(_ store: FilePath, of program: any StoreProgram, with corpus: Corpus) {
        if let old = stores.updateValue(store, forKey: "\(program.name) \(corpus.name)") { discarded.append(old) }
    }

    // MARK: Measuring

    /// Lets all contenders work in turn, round by round.
    ///
    /// - Parameters:
    ///   - yardstick: the contender that times are compared with.
    ///   - goals: of the contender `archiver`.
    func contest(
        _ line: String, _ work: String, _ contenders: [Contender], yardstick: String? = nil, goals: [Goal] = []
    ) throws -> [Row] {
        var runs = [[Measurement]](repeating: [], count: contenders.count)
        for round in 1...rounds {
            for (index, contender) in contenders.enumerated() {
                // What the one before has left to be written is not for this one to wait for.
                sync()
                let run = try contender.run(round)
                say("\(line), round \(round): \(contender.name) \(Figure.time(run.seconds))")
                runs[index].append(run)
            }
        }
        return contenders.indices.map { index in
            Row(
                line, work, contenders[index].name, runs[index], yardstick: yardstick,
                goals: contenders[index].name == archiver.name ? relevant(goals) : [])
        }
    }

    /// The goals that hold for corpora of this size.
    func relevant(_ goals: [Goal]) -> [Goal] { scale == .full ? goals : [] }
}

/// A program that takes part in a line, with what it is to do.
struct Contender {
    let name: String
    /// Prepares, works and checks the result; only the work is measured.
    let run: (_ round: Int) throws -> Measurement

    init(_ name: String, _ run: @escaping (_ round: Int) throws -> Measurement) {
        self.name = name
        self.run = run
    }
}
