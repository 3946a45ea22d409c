// The forged archives for the tests: a line or two for each mistake that a writer could make.

import ArchiveFormat
import FileIO
import Roots
import Testing

@testable import ArchiverKit

/// A recipe for an archive with a mistake, or without one.
struct ForgedArchive: Sendable, CustomTestStringConvertible {
    let name: String
    let write: @Sendable (Forgery) throws -> Void
    /// Changes the archive's files after it is written.
    let spoil: @Sendable (Files) throws -> Void
    /// Whether it has states of the title `game`.
    let hasStates: Bool

    init(
        _ name: String, hasStates: Bool = false, _ write: @escaping @Sendable (Forgery) throws -> Void,
        spoil: @escaping @Sendable (Files) throws -> Void = { _ in }
    ) {
        self.name = name
        self.hasStates = hasStates
        self.write = write
        self.spoil = spoil
    }

    var testDescription: String { name }

    /// Archives with a mistake that `check` must find.
    static let wrong = trees + inner + contents + kinds + chains + snapshots + records

    /// Correct archives, which show that `check` finds the mistakes and nothing else.
    static let right: [ForgedArchive] = [
        ForgedArchive("an empty root") { try $0.snapshot([.forgedRoot]) },
        ForgedArchive("every kind of content") { forgery in
            let chunk = try forgery.content(Array("chunk of content".utf8))
            let list = try forgery.listed([Slice(length: 16, chunk: chunk), Slice(length: 100, chunk: nil)])
            try forgery.snapshot(
                [
                    .forgedRoot, .forged("a", .directory), .forged("a/b", text: "inline"), .forged("a/empty"),
                    .forged("a/hole", .file, .slices([Slice(length: 1 << 20, chunk: nil)])),
                ],
                [
                    .forged("l", .file, .sliceLists([list, list])),
                    .forged("link", .symbolicLink, .linkTarget(Array("../../outside".utf8))),
                    .forged("s", .file, .slices([Slice(length: 16, chunk: chunk)])),
                    .forged("x1", text: "linked", group: 7), .forged("x2", text: "linked", group: 7),
                ])
        },
        ForgedArchive("names of one file that was written while they were read, with its time set back") {
            try $0.snapshot([
                .forgedRoot, .forged("a", text: "one", group: 7).unsettled,
                .forged("b", text: "two", group: 7).unsettled,
            ])
        },
        ForgedArchive("three levels of nodes") { forgery in
            let low = try forgery.inner(1, [forgery.leaf([.forgedRoot, .forged("a", .directory)])])
            let high = try forgery.inner(1, [forgery.leaf([.forged("a/b", text: "x")]), forgery.leaf([.forged("c")])])
            try forgery.snapshot(
                tree: forgery.inner(2, [low, high]).id, totals: Totals(files: 2, directories: 2, bytes: 1))
        },
        ForgedArchive("a path of 5,000 bytes") { forgery in
            var entries = [Entry.forgedRoot]
            var path = ""
            for _ in 0..<50 {
                path += (path.isEmpty ? "" : "/") + String(repeating: "d", count: 99)
                entries.append(.forged(path, .directory))
            }
            try forgery.snapshot(entries)
        },
        ForgedArchive("a file whose content is a node") { forgery in
            let node = Node.leaf([.forgedRoot]).encoded()
            let id = try forgery.add(.node, node)
            try forgery.snapshot(tree: id, totals: Totals(directories: 1))
            try forgery.snapshot(
                [.forgedRoot, .forged("f", .file, .slices([Slice(length: UInt64(node.count), chunk: id)]))])
        },
    ]

    // MARK: Trees

    private static let trees: [ForgedArchive] = [
        ForgedArchive("the empty tree") { try $0.snapshot(tree: $0.node(.leaf([])), totals: Totals()) },
        ForgedArchive("no entry for the root") { try $0.snapshot([.forged("a")]) },
        ForgedArchive("the root is a file") { try $0.snapshot([.forged("", text: "x")]) },
        ForgedArchive("the root is a symbolic link") {
            try $0.snapshot([.forged("", .symbolicLink, .linkTarget(Array("/".utf8)))])
        },
        ForgedArchive("a directory is missing") { try $0.snapshot([.forgedRoot, .forged("a/b")]) },
        ForgedArchive("a directory above a directory is missing") {
            try $0.snapshot([.forgedRoot, .forged("a/b", .directory), .forged("a/b/c")])
        },
        ForgedArchive("a directory is missing after one with a longer name") {
            try $0.snapshot([.forgedRoot, .forged("ab", .directory), .forged("ab/c"), .forged("b/c")])
        },
        ForgedArchive("a file has an entry below it") {
            try $0.snapshot([.forgedRoot, .forged("a", text: "x"), .forged("a/b", text: "y")])
        },
        ForgedArchive("a symbolic link has an entry below it") {
            try $0.snapshot([
                .forgedRoot, .forged("a", .symbolicLink, .linkTarget(Array("/tmp".utf8))), .forged("a/b", text: "y"),
            ])
        },
        ForgedArchive("a symbolic link without a target") {
            try $0.snapshot([.forgedRoot, .forged("a", .symbolicLink)])
        },
        ForgedArchive("a target that is too long") {
            try $0.snapshot([
                .forgedRoot, .forged("a", .symbolicLink, .linkTarget([UInt8](repeating: 0x61, count: 5_000))),
            ])
        },
        ForgedArchive("a name that is too long") {
            try $0.snapshot([.forgedRoot, .forged(String(repeating: "n", count: 300))])
        },
        ForgedArchive("names of one file with different contents") {
            try $0.snapshot([.forgedRoot, .forged("a", text: "one", group: 7), .forged("b", text: "two", group: 7)])
        },
        ForgedArchive("names of one file that are a file and a FIFO") {
            try $0.snapshot([.forgedRoot, .forged("a", text: "one", group: 7), .forged("b", .fifo, group: 7)])
        },
        ForgedArchive("a directory with several names") {
            try $0.snapshot([.forgedRoot, .forged("a", .directory, group: 7), .forged("b", .directory, group: 7)])
        },
    ]

    // MARK: Inner nodes

    /// A tree of two leaves, of which the root records the second wrongly.
    private static func lie(
        _ name: String, first: [Entry] = [.forgedRoot, .forged("a", text: "x")],
        second: [Entry] = [.forged("b", text: "yy"), .forged("c")],
        _ change: @escaping @Sendable (inout Node.Child) -> Void = { _ in }
    ) -> ForgedArchive {
        ForgedArchive(name) { forgery in
            var child = try forgery.leaf(second)
            change(&child)
            let node = Node.inner(level: 1, children: [try forgery.leaf(first), child])
            try forgery.snapshot(tree: forgery.node(node), totals: Forgery.totals(first + second))
        }
    }

    private static let inner: [ForgedArchive] = [
        lie("a child begins with another path than recorded") {
            $0.firstPath = RelativePath(unchecked: Array("aa".utf8))
        },
        lie("a child begins with an earlier path than recorded") {
            $0.firstPath = RelativePath(unchecked: Array("bb".utf8))
        },
        lie("a child has fewer entries than recorded") { $0.entries = 3 },
        lie("a child has more entries than recorded") { $0.entries = 1 },
        lie("a child has the greatest number of entries") { $0.entries = .max },
        lie("a child has fewer bytes than recorded") { $0.bytes = 3 },
        lie("a child has the greatest number of bytes") { $0.bytes = .max },
        lie("leaves out of order", first: [.forgedRoot, .forged("m")], second: [.forged("b")]) {
            $0.firstPath = RelativePath(unchecked: Array("n".utf8))
        },
        lie("a path in two leaves", first: [.forgedRoot, .forged("b")], second: [.forged("b", text: "yy")]),
        lie("a leaf twice", first: [.forgedRoot, .forged("a")], second: [.forgedRoot, .forged("a")]) {
            $0.firstPath = RelativePath(unchecked: Array("b".utf8))
        },
        lie("a file at a leaf's end has an entry below it", second: [.forged("a/b")]),
        lie("a directory is missing at a leaf's beginning", second: [.forged("b/c")]),
        lie("a child that is in no segment") { $0.id = ChunkID(hashing: [1]) },
        ForgedArchive("an empty leaf among others") { forgery in
            var empty = try forgery.leaf([])
            empty.firstPath = RelativePath(unchecked: Array("b".utf8))
            try forgery.snapshot(
                tree: forgery.inner(1, [forgery.leaf([.forgedRoot]), empty]).id, totals: Totals(directories: 1))
        },
        ForgedArchive("a child has another level than recorded") { forgery in
            let leaf = try forgery.leaf([.forgedRoot])
            try forgery.snapshot(tree: forgery.inner(2, [leaf]).id, totals: Totals(directories: 1))
        },
        ForgedArchive("sums that overflow") { forgery in
            var first = try forgery.leaf([.forgedRoot])
            var second = try forgery.leaf([.forged("a")])
            first.bytes = .max
            second.bytes = .max
            (first.entries, second.entries) = (.max, .max)
            try forgery.snapshot(tree: forgery.inner(1, [first, second]).id, totals: Totals(files: 1, directories: 1))
        },
        ForgedArchive("files whose total size overflows") { forgery in
            let hole = Content.slices([Slice(length: UInt64(Int64.max), chunk: nil)])
            let entries = [Entry.forgedRoot] + ["a", "b", "c"].map { .forged($0, .file, hole) }
            try forgery.snapshot(tree: forgery.node(.leaf(entries)), totals: Totals(files: 3, directories: 1, bytes: 1))
        },
    ]

    // MARK: Contents

    private static func file(
        _ name: String, _ content: @escaping @Sendable (Forgery) throws -> Content
    ) -> ForgedArchive {
        ForgedArchive(name) { try $0.snapshot([.forgedRoot, .forged("f", .file, content($0))]) }
    }

    private static let contents: [ForgedArchive] = [
        file("a slice shorter than its chunk") { .slices([Slice(length: 3, chunk: try $0.content([1, 2, 3, 4]))]) },
        file("a slice longer than its chunk") { .slices([Slice(length: 5, chunk: try $0.content([1, 2, 3, 4]))]) },
        file("a chunk that is in no segment") { _ in .slices([Slice(length: 5, chunk: ChunkID(hashing: [9]))]) },
        file("a chunk whose id begins like another's") {
            var name = try $0.content([1, 2, 3, 4]).bytes
            name[31] ^= 1
            return .slices([Slice(length: 4, chunk: ChunkID(name))])
        },
        file("a list of slices that is in no segment") { _ in
            .sliceLists([ListedSlices(length: 5, list: ChunkID(hashing: [9]))])
        },
        file("lists longer than the recorded size of the file") {
            let list = try $0.listed([Slice(length: 4, chunk: $0.content([1, 2, 3, 4]))])
            return .sliceLists([list, ListedSlices(length: 3, list: list.list)])
        },
        file("lists shorter than the recorded size of the file") {
            .sliceLists([
                ListedSlices(length: 9, list: try $0.list([Slice(length: 4, chunk: $0.content([1, 2, 3, 4]))]))
            ])
        },
        file("a slice in a list shorter than its chunk") {
            .sliceLists([try $0.listed([Slice(length: 3, chunk: $0.content([1, 2, 3, 4]))])])
        },
        file("a list with a chunk that is in no segment") {
            .sliceLists([try $0.listed([Slice(length: 3, chunk: ChunkID(hashing: [9]))])])
        },
        file("lists whose total length overflows") {
            let list = try $0.listed([Slice(length: UInt64(Int64.max), chunk: nil)])
            return .sliceLists([list, list, list])
        },
    ]

    private static let kinds: [ForgedArchive] = [
        ForgedArchive("a tree that is content") {
            try $0.snapshot(tree: $0.content([1, 2, 3]), totals: Totals(directories: 1))
        },
        ForgedArchive("a tree that is a snapshot") {
            let id = try $0.snapshot([.forgedRoot])
            try $0.snapshot(tree: id.chunk, totals: Totals(directories: 1))
        },
        ForgedArchive("a node that is content") { forgery in
            let child = Node.Child(
                firstPath: RelativePath(unchecked: [0x61]), id: try forgery.content([1]), entries: 1, bytes: 0)
            let root = try forgery.inner(1, [forgery.leaf([.forgedRoot]), child])
            try forgery.snapshot(tree: root.id, totals: Totals(files: 1, directories: 1))
        },
        file("a list of slices that is content") {
            .sliceLists([ListedSlices(length: 3, list: try $0.content([1, 2, 3]))])
        },
        file("a list of slices that is a node") {
            .sliceLists([ListedSlices(length: 3, list: try $0.node(.leaf([.forgedRoot])))])
        },
    ]

    // MARK: Chains

    private static func text(_ number: Int) -> [UInt8] {
        Array((0..<400).map { "line \($0 == 7 ? number : $0)\n" }.joined().utf8)
    }

    private static let chains: [ForgedArchive] = [
        ForgedArchive("a chain of deltas that is longer than recorded") { forgery in
            _ = try forgery.content(text(0))
            for number in 1...100 {
                try forgery.add(.content, text(number), on: text(number - 1), claimedDepth: 0)
            }
            let content = Content.slices([
                Slice(length: UInt64(text(100).count), chunk: ChunkID(hashing: text(100)))
            ])
            try forgery.snapshot([.forgedRoot, .forged("f", .file, content)])
        },
        ForgedArchive("a delta against a chunk that is in no segment") { forgery in
            let id = try forgery.add(.content, text(1), on: text(0), claimedDepth: 0)
            try forgery.snapshot([
                .forgedRoot, .forged("f", .file, .slices([Slice(length: UInt64(text(1).count), chunk: id)])),
            ])
        },
        ForgedArchive("two deltas against each other") { forgery in
            let (one, two) = (text(1), text(2))
            let id = try forgery.add(.content, one, on: two, claimedDepth: 0)
            try forgery.add(.content, two, on: one, claimedDepth: 0)
            try forgery.snapshot([
                .forgedRoot, .forged("f", .file, .slices([Slice(length: UInt64(one.count), chunk: id)])),
            ])
        },
    ]

    // MARK: Records

    private static let snapshots: [ForgedArchive] = [
        ForgedArchive("a total with more files than the tree") {
            try $0.snapshot([.forgedRoot], totals: Totals(files: 1, directories: 1))
        },
        ForgedArchive("a total with fewer directories than the tree") {
            try $0.snapshot([.forgedRoot], totals: Totals())
        },
        ForgedArchive("a total with more other objects than the tree") {
            try $0.snapshot([.forgedRoot], totals: Totals(directories: 1, others: 1))
        },
        ForgedArchive("a total with more bytes than the tree") {
            try $0.snapshot([.forgedRoot, .forged("a", text: "x")], totals: Totals(files: 1, directories: 1, bytes: 2))
        },
        ForgedArchive("more changes than entries") {
            try $0.snapshot(
                tree: $0.node(.leaf([.forgedRoot])), totals: Totals(directories: 1), changes: ChangeCounts(added: 2))
        },
        ForgedArchive("the tree is in no segment") {
            try $0.snapshot(tree: ChunkID(hashing: [9]), totals: Totals(directories: 1))
        },
        ForgedArchive("an invalid snapshot") {
            try $0.snapshot([.forgedRoot])
            try $0.add(.snapshot, [0xa0])
        },
    ]

    private static let lost = ChunkID(hashing: [9])

    private static func operation(
        _ kind: OperationKind, before: SnapshotID? = nil, snapshot: SnapshotID? = nil, target: OperationID? = nil
    ) -> @Sendable (Forgery) throws -> Void {
        { forgery in
            let record = OperationRecord(
                rootPath: forgery.rootPath.bytes, host: CurrentProcess.hostName, kind: kind,
                time: Timestamp(seconds: 1_700_000_001), before: before, snapshot: snapshot, target: target,
                machine: Machine.id)
            try forgery.add(.operation, record.encoded())
        }
    }

    private static func state(_ name: String, _ content: Content) -> ForgedArchive {
        ForgedArchive(name) { forgery in
            _ = try forgery.content([1, 2, 3])
            let record = StateRecord(
                title: "game", host: CurrentProcess.hostName, time: Timestamp(seconds: 1_700_000_001), type: "Int",
                content: content)
            try forgery.add(.state, record.encoded())
        }
    }

    private static let records: [ForgedArchive] = [
        ForgedArchive(
            "an operation whose snapshot before it is in no segment", operation(.restore, before: .init(lost))),
        ForgedArchive("an operation whose snapshot is in no segment", operation(.restore, snapshot: .init(lost))),
        ForgedArchive("a completion of a missing operation", operation(.completion, target: .init(lost))),
        ForgedArchive("an undo of a missing operation", operation(.undo, target: .init(lost))),
        ForgedArchive("an invalid operation") { try $0.add(.operation, [0xa0]) },
        ForgedArchive("an invalid gap") { try $0.add(.gap, [0xa0]) },
        ForgedArchive("an invalid record of forgetting") { try $0.add(.forgotten, [0xa0]) },
        ForgedArchive("an invalid record of unforgetting") { try $0.add(.unforgotten, [0xa0]) },
        ForgedArchive("an invalid label") { try $0.add(.label, [0xa0]) },
        ForgedArchive("an invalid pin") { try $0.add(.pin, [0xa0]) },
        ForgedArchive("an invalid note") { try $0.add(.note, [0xa0]) },
        ForgedArchive("an invalid policy") { try $0.add(.policy, [0xa0]) },
        ForgedArchive("an invalid record of deletions") { try $0.add(.deletion, [0xa0]) },
        ForgedArchive("an invalid state") { try $0.add(.state, [0xa0]) },
        state("a state whose chunk is in no segment", .slices([Slice(length: 1, chunk: lost)])),
        state("a state longer than its chunk", .slices([Slice(length: 4, chunk: ChunkID(hashing: [1, 2, 3]))])),
        state("a state whose list is in no segment", .sliceLists([ListedSlices(length: 4, list: lost)])),
    ]
}
