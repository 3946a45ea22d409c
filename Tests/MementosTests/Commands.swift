// Commands that tests of histories execute.

import Mementos
import Threading

/// An edit of a list of numbers; stores what it needs for undoing.
enum Edit: Command, Codable, Equatable {
    case append(Int)
    case remove(at: Int, removed: Int?)
    /// Fails when executed or undone, after emptying the list.
    case fail(executing: Bool)

    struct Refusal: Error, Equatable {}

    var name: String {
        switch self {
        case .append(let number): "Append \(number)"
        case .remove(let index, _): "Remove at \(index)"
        case .fail: "Fail"
        }
    }

    mutating func execute(on numbers: inout [Int]) throws {
        switch self {
        case .append(let number): numbers.append(number)
        case .remove(let index, _):
            guard numbers.indices.contains(index) else { throw Refusal() }
            self = .remove(at: index, removed: numbers.remove(at: index))
        case .fail(let executing):
            guard executing else { return }
            numbers.removeAll()
            throw Refusal()
        }
    }

    mutating func undo(on numbers: inout [Int]) throws {
        switch self {
        case .append: numbers.removeLast()
        case .remove(let index, let removed):
            guard let removed else { throw Refusal() }
            numbers.insert(removed, at: index)
        case .fail:
            numbers.removeAll()
            throw Refusal()
        }
    }
}

/// An object that commands change in place.
final class Document: Sendable {
    private let text = Locked("")

    var content: String { text.withLock { $0 } }
    func edit(_ body: (inout String) -> Void) { text.withLock { body(&$0) } }
}

/// Appends a word to a document; fails at the actions in `failing`.
struct Write: Command {
    let word: String
    var failing: Set<String> = []

    var name: String { "Write \(word)" }

    func execute(on document: inout Document) throws {
        if failing.contains("execute") { throw Edit.Refusal() }
        document.edit { $0 += word }
    }

    func undo(on document: inout Document) throws {
        if failing.contains("undo") { throw Edit.Refusal() }
        document.edit { $0.removeLast(word.count) }
    }
}
