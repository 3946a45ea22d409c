// Command: a shelf of albums from which one can delete, undo that, and go on at the next start.

import ArchiverKit
import ArgumentParser
import Mementos

struct Album: Codable, Sendable, Equatable {
    var title: String
    var artist: String
}

/// The albums, and the one that is shown.
struct Shelf: Codable, Sendable, Equatable {
    var albums: [Album]
    var position = 0

    static let first = Shelf(albums: [
        Album(title: "Blue Train", artist: "John Coltrane"),
        Album(title: "Kind of Blue", artist: "Miles Davis"),
        Album(title: "Mingus Ah Um", artist: "Charles Mingus"),
    ])

    var summary: String {
        guard albums.indices.contains(position) else { return "no albums" }
        return "\(position + 1)/\(albums.count) \(albums[position].title) (\(albums[position].artist))"
    }
}

/// Deletes the album that is shown; keeps it, to put it back.
struct DeleteAlbum: Command, Codable {
    private var deleted: Album?
    private var position = 0
    var name: String { "Delete Album" }

    mutating func execute(on shelf: inout Shelf) {
        position = shelf.position
        guard shelf.albums.indices.contains(position) else { return }
        deleted = shelf.albums.remove(at: position)
        shelf.position = max(0, min(position, shelf.albums.count - 1))
    }

    func undo(on shelf: inout Shelf) {
        guard let deleted else { return }
        shelf.albums.insert(deleted, at: position)
        shelf.position = position
    }
}

struct AlbumsExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "albums", abstract: "Look through a shelf of albums, delete, undo and redo.")

    enum Step: String, ExpressibleByArgument, CaseIterable { case next, delete, undo, redo }

    @Argument(help: "What to do, one after the other: next, delete, undo, redo.")
    var steps: [Step] = []

    func run() throws {
        let archive = try Archive.forExamples()
        let kept = try archive.load(
            "albums", startingFrom: UndoMemento<DeleteAlbum>(state: .first, position: UndoPosition()))
        let history = UndoHistory<DeleteAlbum>(of: Observable(kept.state), position: kept.position)
        let shown = history.state.observing(\.summary).observe([.initial, .new]) { print($0.new ?? "") }
        for step in steps {
            switch step {
            case .next: history.state.update { $0.position = ($0.position + 1) % max(1, $0.albums.count) }
            case .delete: try history.execute(DeleteAlbum())
            case .undo: if try history.undo() == nil { print("nothing to undo") }
            case .redo: if try history.redo() == nil { print("nothing to redo") }
            }
        }
        try archive.save(UndoOriginator(history).captureState(), as: "albums")
        shown.cancel()
    }
}
