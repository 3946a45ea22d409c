// Command: deletes albums from a shelf, with undo and redo that continue at the next start.

import ArchiverKit
import ArgumentParser
import Mementos
import Timeline

struct Album: Codable, Sendable, Equatable {
    var title: String
    var artist: String
}

/// Deletes an album, and stores it to put it back.
///
/// The index is fixed at creation, so a redo deletes the same album whatever is shown then.
struct DeleteAlbum: Command, Codable {
    let index: Int
    private var deleted: Album?
    var name: String { "Delete Album" }

    struct NoSuchAlbum: Error {}

    init(at index: Int) { self.index = index }

    mutating func execute(on shelf: inout [Album]) throws {
        guard shelf.indices.contains(index) else { throw NoSuchAlbum() }
        deleted = shelf.remove(at: index)
    }

    func undo(on shelf: inout [Album]) {
        if let deleted { shelf.insert(deleted, at: index) }
    }
}

/// The shelf as a row of lines, of which one is shown.
private struct Shelf: ScrollerList {
    let history: UndoHistory<DeleteAlbum>
    let initialPosition: Int?
    var count: Int { history.state.value.count }

    func view(at index: Int) -> String {
        let album = history.state.value[index]
        return "\(index + 1)/\(count) \(album.title) (\(album.artist))"
    }
}

struct AlbumsExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "albums", abstract: "Browse a shelf of albums; delete, undo and redo.")

    enum Step: String, ExpressibleByArgument, CaseIterable { case next, delete, undo, redo }

    @Argument(help: "The steps to run in order: next, delete, undo, redo.")
    var steps: [Step] = []

    private static let first = [
        Album(title: "Blue Train", artist: "John Coltrane"),
        Album(title: "Kind of Blue", artist: "Miles Davis"),
        Album(title: "Mingus Ah Um", artist: "Charles Mingus"),
    ]

    func run() throws {
        let archive = try Archive.forExamples()
        let kept = try archive.load(
            as: "albums", startingFrom: UndoMemento<DeleteAlbum>(state: AlbumsExample.first, position: UndoPosition()))
        let history = UndoHistory<DeleteAlbum>(of: Observable(kept.state), position: kept.position)
        // No command changes which album is shown, so it is not part of the commands' state.
        let shelf = Scroller(
            Shelf(history: history, initialPosition: try archive.load(as: "albums: view", startingFrom: 0)))
        try shelf.reload()
        print(try shelf.view() ?? "no albums")
        for step in steps {
            switch step {
            case .next: if try !shelf.next() { try shelf.scroll(.first) }
            case .delete: try history.execute(DeleteAlbum(at: shelf.position ?? 0))
            case .undo: if try history.undo() == nil { print("nothing to undo") }
            case .redo: if try history.redo() == nil { print("nothing to redo") }
            }
            try shelf.reload()
            print(try shelf.view() ?? "no albums")
        }
        try archive.save(UndoOriginator(history).captureState(), as: "albums")
        try archive.save(shelf.position ?? 0, as: "albums: view")
    }
}
