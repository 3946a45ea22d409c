// Queries about a large file with many versions.

internal import SystemPackage

struct LargeVersionsQuestions: Line {
    let name = "large-versions"
    let summary = "questions about one file of 100 MB with many versions"
    let diskBytes = 4 << 30

    func run(in workshop: Workshop) throws -> [Row] {
        let count = workshop.scale.largeVersions
        let place = workshop.place("versions")
        workshop.say("making \(Figure.count(count)) versions of a file of \(Figure.bytes(LargeVersions.bytes))")
        try Command("mkdir", place.string).run()
        try Helper.command("versions", place.string, String(count)).run()
        let archiver = workshop.archiver
        let store = LargeVersions.store(in: place)
        let root = ["--root", LargeVersions.tree(in: place).string]
        let file = LargeVersions.file
        let asked: [(String, [String])] = [
            ("log", ["log", file]), ("log -n 5", ["log", "-n", "5", file]), ("find", ["find", file]),
            ("changes latest~100", ["changes", "latest~100"]), ("blame, refused", ["blame", file]),
            ("cat of one in the middle", ["cat", "latest~\(count / 2):\(file)"]),
            ("grep in one version", ["grep", "-F", "line 00000007", "--at", "latest"]),
        ]
        let title = "\(Figure.count(count)) versions of \(Figure.bytes(LargeVersions.bytes))"
        let rows = try asked.flatMap { what, words in
            var command = archiver.command(words + root, store: store)
            // A refusal is not a failure.
            command.expected = [0, 1]
            return try workshop.contest(
                name, "\(title): \(what)", [Contender(archiver.name) { [command] _ in try command.measured() }])
        }
        workshop.remove(place)
        return rows
    }
}
