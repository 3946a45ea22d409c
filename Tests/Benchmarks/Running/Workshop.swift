// The context of a benchmark run: the work directory, the programs, the rounds, and the data that lines share.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// The context of a benchmark run.
final class Workshop {
    /// The directory for everything that is created.
    let directory: FilePath
    private(set) var rounds: Int
    let scale: Scale
    /// The measured binary whose turn it is.
    private(set) var archiver: Archiver
    /// Whether it is the turn of an older one, which does the same work without the other programs.
    private(set) var isOlder = false
    /// The git repository to replay; nil for none.
    let repository: FilePath?
    /// Existing corpora, by name.
    private var corpora: [String: FilePath] = [:]
    /// Stores that have captured a corpus, by name.
    private var stores: [String: FilePath] = [:]
    private var counter = 0
    /// Paths to be removed.
    private var discarded: [FilePath] = []
    /// With less free space than this, discarded paths are removed before new work.
    private static let spareBytes = 25 << 30

    init(directory: FilePath, rounds: Int, scale: Scale, archiver: FilePath, repository: FilePath?) {
        self.directory = directory
        self.rounds = rounds
        self.scale = scale
        self.archiver = Archiver(binary: archiver.string)
        self.repository = repository
    }

    /// Calls `body` in turn for archiver and an older one, with one round each time, and merges their rows.
    ///
    /// The older one begins every second round: the first program to use much memory or many inodes pays for all.
    func taking(turnsWith older: Archiver, _ body: () throws -> [Row]) throws -> [Row] {
        let (own, all) = (archiver, rounds)
        defer { (archiver, isOlder, rounds) = (own, false, all) }
        rounds = 1
        var rows: [Row] = []
        for round in 0..<all {
            for next in round.isMultiple(of: 2) ? [own, older] : [older, own] {
                (archiver, isOlder) = (next, next.name == older.name)
                rows += try body()
            }
        }
        return Row.merging(rows)
    }

    /// Prints progress to stderr.
    func say(_ text: String) {
        let line = Array("bench: \(text)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    // MARK: Places

    /// Returns a path in the work directory that does not exist.
    func place(_ name: String) -> FilePath {
        counter += 1
        return directory.appending("\(name)-\(counter)")
    }

    /// Runs `body` with a path that does not exist; what it creates there is removed later.
    ///
    /// It is not removed immediately: for a while ext4 does not reuse the inode numbers of removed files and must
    /// search for others, which would slow down the next program that creates files.
    func withPlace<Result>(_ name: String, _ body: (FilePath) throws -> Result) throws -> Result {
        if try freeBytes() < Workshop.spareBytes { tidyUp() }
        let place = place(name)
        defer { discarded.append(place) }
        return try body(place)
    }

    /// Removes the paths that are no longer needed.
    func tidyUp() {
        for place in discarded { remove(place) }
        discarded = []
    }

    func remove(_ path: FilePath) {
        if (try? Command("rm", "-rf", path.string).run()) != nil { return }
        // A copied tree may contain directories that their owner cannot write to.
        _ = try? Command("chmod", "-R", "u+w", path.string).run()
        _ = try? Command("rm", "-rf", path.string).run()
    }

    /// The free bytes in the work directory.
    func freeBytes() throws -> Int {
        Int(clamping: try FileSystem.freeBytes(of: Descriptor.open(directory, O_RDONLY | O_DIRECTORY)))
    }

    // MARK: Shared data

    /// Returns the tree of `corpus`, created on first use.
    func tree(of corpus: Corpus) throws -> FilePath {
        if let known = corpora[corpus.name] { return known }
        let path = directory.appending("corpus-\(corpus.name)")
        say("making \(corpus.name)")
        try corpus.make(path)
        corpora[corpus.name] = path
        return path
    }

    /// Returns a store of `program` that has captured the tree of `corpus`, perhaps before its latest changes.
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

    /// Sets `store` as the one that has captured the tree of `corpus`, and discards the old one.
    func keep(_ store: FilePath, of program: any StoreProgram, with corpus: Corpus) {
        if let old = stores.updateValue(store, forKey: "\(program.name) \(corpus.name)") { discarded.append(old) }
    }

    // MARK: Measuring

    /// Runs all contenders in turn, round by round.
    ///
    /// - Parameters:
    ///   - yardstick: the contender whose times are the reference.
    ///   - goals: the goals of the contender `archiver`.
    func contest(
        _ line: String, _ work: String, _ contenders: [Contender], yardstick: String? = nil, goals: [Goal] = []
    ) throws -> [Row] {
        let contenders = contenders.filter { contender in
            !isOlder || contender.name == archiver.name || contender.name.hasPrefix("\(archiver.name), ")
        }
        var runs = [[Measurement]](repeating: [], count: contenders.count)
        for round in 1...rounds {
            for (index, contender) in contenders.enumerated() {
                // Flush the previous contender's writes, so that they do not slow down this one.
                sync()
                let run = try contender.run(round)
                say("\(line), round \(round): \(contender.name) \(Figure.time(run.seconds))")
                runs[index].append(run)
            }
        }
        return contenders.indices.map { index in
            Row(
                line, work, contenders[index].name, runs[index], yardstick: yardstick,
                goals: contenders[index].name == archiver.name && !isOlder ? relevant(goals) : [])
        }
    }

    /// The goals that apply to corpora of this size.
    func relevant(_ goals: [Goal]) -> [Goal] { scale == .full ? goals : [] }
}

/// A program that takes part in a line, and its work.
struct Contender {
    let name: String
    /// Prepares, works and checks the result; only the work is measured.
    let run: (_ round: Int) throws -> Measurement

    init(_ name: String, _ run: @escaping (_ round: Int) throws -> Measurement) {
        self.name = name
        self.run = run
    }
}
