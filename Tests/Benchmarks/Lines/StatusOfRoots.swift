// The status of many roots that one process watches.

internal import FileIO
internal import SystemPackage

struct StatusOfRoots: Line {
    let name = "status-roots"
    let summary = "status of many watched roots"
    let diskBytes = 1 << 29

    func run(in workshop: Workshop) throws -> [Row] {
        let archiver = workshop.archiver
        return try workshop.withPlace("roots") { place in
            let trees = (0..<workshop.scale.roots).map { place.appending("\($0)") }
            for tree in trees {
                try Directory.create(tree, permissions: 0o755, durable: false)
                try TextFile.write("a file of \(tree)\n", to: tree.appending("file.txt"))
            }
            let store = workshop.place("store")
            defer { workshop.remove(store) }
            let watching = try WatchingArchiver(archiver, trees, store: store)
            for _ in trees { try watching.wait(for: "watching") }
            let command = archiver.command("status", store: store)
            let reported = try command.text().split(separator: "\n").count { $0.hasPrefix("up to date") }
            guard reported == trees.count else {
                throw BenchmarkError("archiver status reports \(reported) roots as up to date")
            }
            let rows = try workshop.contest(
                name, "status of \(Figure.count(trees.count)) watched roots",
                [Contender(archiver.name) { _ in try workshop.median(of: command) }], goals: [.seconds(1)])
            _ = try watching.end()
            return rows
        }
    }
}
