// Names that were written to: which events record them, and that their number is bounded.

import FileIO
import TestTraits
import Testing

@testable import FileWatching

@Suite(.blocking) struct WrittenNamesTests {
    struct Case: CustomTestStringConvertible {
        let name: String
        let events: [(EventMask, RelativePath)]
        var changed: Set<RelativePath> = []
        var closed: Set<RelativePath> = []

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "nothing", events: []),
        Case(name: "a name appears and disappears", events: [(.create, "f"), (.delete, "f"), (.movedTo, "g")]),
        Case(name: "content", events: [(.modify, "f")], changed: ["f"]),
        Case(name: "attributes", events: [(.attributes, "f")], changed: ["f"]),
        Case(name: "a writer closes", events: [(.closeWrite, "f")], changed: ["f"], closed: ["f"]),
        Case(name: "merged", events: [([.create, .modify, .closeWrite], "f")], changed: ["f"], closed: ["f"]),
        Case(name: "written, then deleted", events: [(.modify, "f"), (.delete, "f")], changed: ["f"]),
        Case(name: "written, then renamed", events: [(.modify, "f"), (.movedFrom, "f"), (.movedTo, "g")]),
        Case(
            name: "renamed, then written under the old name", events: [(.movedFrom, "f"), (.modify, "f")],
            changed: ["f"]),
        Case(name: "renamed over", events: [(.modify, "f"), (.movedTo, "f")], changed: ["f"]),
        Case(
            name: "two names", events: [(.modify, "f"), (.closeWrite, "d/f")], changed: ["f", "d/f"], closed: ["d/f"]),
    ]

    @Test("events record the names that were written to", arguments: cases)
    func events(_ test: Case) {
        var names = WrittenNames()
        for (mask, path) in test.events { names.record(mask, of: path) }
        #expect(names.changed == test.changed)
        #expect(names.closed == test.closed)
        #expect(names.isEmpty == test.changed.isEmpty)
        #expect(names.withoutClosed.changed == test.changed)
        #expect(names.withoutClosed.closed == [])
    }

    private func names(_ range: Range<Int>, _ mask: EventMask) -> WrittenNames {
        var names = WrittenNames()
        for number in range { names.record(mask, of: RelativePath(unchecked: Array("\(number)".utf8))) }
        return names
    }

    @Test("the names of several batches are combined")
    func union() {
        var sum = names(0..<3, .modify)
        sum.formUnion(names(2..<5, .closeWrite))
        #expect(sum.changed.count == 5)
        #expect(sum.closed == ["2", "3", "4"])
    }

    /// Closes by writers have priority, because only they show stores into mapped memory.
    @Test("the number of names never exceeds the limit")
    func limit() {
        let limit = WrittenNames.limit
        var names = names(0..<(limit + 10), .modify)
        #expect(names.changed.count == limit)
        names.record(.closeWrite, of: "x")
        #expect(names.changed.count + names.closed.count == limit)
        names.formUnion(self.names(limit..<(limit + 10), [.modify, .closeWrite]))
        #expect(names.changed.count + names.closed.count == limit)

        var closed = WrittenNames()
        closed.formUnion(self.names(0..<limit, .closeWrite))
        #expect(closed.closed.count >= limit / 2)
    }
}
