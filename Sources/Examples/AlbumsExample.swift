// Command: deletes albums from a shelf, with undo and redo that continue at the next start.

import ArchiverKit
import ArgumentParser
import Mementos

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

/// Which album is shown; no command changes it, so it is not part of the commands' state.
struct View: Codable, Sendable, Equatable {
    var position = 0

    mutating func turn(to position: Int, of shelf: [Album]) {
        self.position = max(0, min(position, shelf.count - 1))
    }

    func summary(of shelf: [Album]) -> String {
        guard shelf.indices.contains(position) else { return "no albums" }
        return "\(position + 1)/\(shelf.count) \(shelf[position].title) (\(shelf[position].artist))"
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
            "albums", startingFrom: UndoMemento<DeleteAlbum>(state: AlbumsExample.first, position: UndoPosition()))
        var view = try archive.load("albums: view", startingFrom: View())
        let history = UndoHistory<DeleteAlbum>(of: Observable(kept.state), position: kept.position)
        print(view.summary(of: history.state.value))
        for step in steps {
            switch step {
            case .next: view.turn(to: (view.position + 1) % max(1, history.state.value.count), of: history.state.value)
            case .delete: try history.execute(DeleteAlbum(at: view.position))
            case .undo: if try history.undo() == nil { print("nothing to undo") }
            case .redo: if try history.redo() == nil { print("nothing to redo") }
            }
            view.turn(to: view.position, of: history.state.value)
            print(view.summary(of: history.state.value))
        }
        try archive.save(UndoOriginator(history).captureState(), as: "albums")
        try archive.save(view, as: "albums: view")
    }
}
