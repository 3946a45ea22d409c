// The code of the article Commands.md: the code between "begin" and "end" is the article's, block by block.

import Foundation
import Mementos
import Testing

private struct NoSuchAlbum: Error {}

// begin
struct DeleteAlbum: Command, Codable {
    let index: Int
    var deleted: String?

    var name: String { "Delete Album" }

    mutating func execute(on shelf: inout [String]) throws {
        guard shelf.indices.contains(index) else { throw NoSuchAlbum() }
        deleted = shelf.remove(at: index)
    }

    func undo(on shelf: inout [String]) {
        if let deleted { shelf.insert(deleted, at: index) }
    }
}
// end

@Suite struct CommandsArticle {
    @Test("the blocks do what the article says") func blocks() throws {
        // begin
        let shelf = Observable(["Blue", "Horses", "Kind of Blue"])
        let history = UndoHistory<DeleteAlbum>(of: shelf)
        try history.execute(DeleteAlbum(index: 1))
        try history.undo()
        try history.redo()
        // end
        #expect(shelf.value == ["Blue", "Kind of Blue"])
        #expect(throws: CommandError.self) { try history.execute(DeleteAlbum(index: 2)) }

        do {
            // begin
            let history = UndoHistory<AnyCommand<[String]>>(of: shelf)
            try history.execute(DeleteAlbum(index: 0))
            try history.execute("Add Album", { $0.append("Hejira") }, undo: { $0.removeLast() })
            // end
            #expect(shelf.value == ["Kind of Blue", "Hejira"])
            try history.undo()
            try history.undo()
            #expect(shelf.value == ["Blue", "Kind of Blue"])
        }

        do {
            let printed = Log<String>()
            let print = { @Sendable in printed.add($0) }
            // begin
            let item = history.undoName.observe([.initial, .new]) { change in
                let name = change.value
                print(name.map { "Undo \($0)" } ?? "Nothing to undo")
            }
            // end
            try history.undo()
            try history.redo()
            item.cancel()
            #expect(printed.items == ["Undo Delete Album", "Nothing to undo", "Undo Delete Album"])
        }

        // begin
        try history.group("Delete All") { group in
            while !group.state.isEmpty {
                try group.execute(DeleteAlbum(index: 0))
            }
        }
        // end
        #expect(shelf.value.isEmpty)

        // begin
        struct TypeText: Command, Codable {
            let text: String
            var name: String { "Type" }

            func execute(on draft: inout String) { draft += text }
            func undo(on draft: inout String) { draft.removeLast(text.count) }

            func coalesced(with next: TypeText) -> TypeText? {
                text.hasSuffix(" ") ? nil : TypeText(text: text + next.text)
            }
        }
        // end
        let typing = UndoHistory<TypeText>(of: Observable(""))
        for letter in "so be it" { try typing.execute(TypeText(text: String(letter))) }
        #expect(typing.position.done.map { $0.commands.map(\.text) } == [["so "], ["be "], ["it"]])

        // begin
        let (albums, position) = history.snapshot()
        let stored = try JSONEncoder().encode(position)

        let restored = try JSONDecoder().decode(UndoPosition<DeleteAlbum>.self, from: stored)
        let next = UndoHistory(of: Observable(albums), position: restored)
        try next.undo()
        // end
        #expect(next.state.value == ["Blue", "Kind of Blue"])
        try next.undo()
        #expect(next.state.value == ["Blue", "Horses", "Kind of Blue"])
    }
}
