// Shell completions for selectors.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

extension CompletionKind {
    /// Words, labels and ids that name snapshots.
    static var selector: CompletionKind {
        .custom { words, _, prefix in (try? SelectorCompletion(words).candidates(prefix)) ?? [] }
    }
}

/// The selectors that begin with the typed text; reads only a few rows, however many snapshots there are.
struct SelectorCompletion {
    private let archive: Archive
    private let root: ArchivedRoot?

    /// The maximum number of labels, and of ids, that are offered.
    private static let limit = 50
    private static let words = ["latest", "oldest", "session~1"]

    /// - Parameter words: the command line so far.
    init(_ words: [String]) throws {
        func value(of option: String) -> String? {
            if let joined = words.first(where: { $0.hasPrefix(option + "=") }) {
                return String(joined.dropFirst(option.count + 1))
            }
            guard let place = words.firstIndex(of: option), place + 1 < words.count else { return nil }
            return words[place + 1]
        }
        let global = try GlobalOptions.parse(value(of: "--archive").map { ["--archive", $0] } ?? [])
        archive = try Archive.open(global.directory)
        root = try RootContext(archive, value(of: "--root").flatMap(PathArgument.init(argument:))).root
    }

    func candidates(_ prefix: String) throws -> [String] {
        // A path follows the colon; it is not completed.
        if prefix.contains(":") { return [] }
        let words = SelectorCompletion.words.filter { $0.hasPrefix(prefix) }
        let labels = try archive.labels(beginning: prefix, limit: SelectorCompletion.limit)
        let isID = !prefix.isEmpty && prefix.utf8.allSatisfy { Hex.value($0) != nil }
        let ids = try isID ? archive.snapshotIDs(beginning: prefix, of: root, limit: SelectorCompletion.limit) : []
        return words + labels + ids.map(\.short)
    }
}
