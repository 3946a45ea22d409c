// What trees and saved states need, as numbers that the catalogue keeps: a survey reads only what earlier ones have not.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Compression
internal import FileIO
internal import Roots
internal import SnapshotTree

/// An index of what tree nodes, saved states and versions of files need.
///
/// Each of these is an item with a number, and so is each chunk of content. An item needs items with lower numbers
/// only. What it needs follows from the bytes of its chunk, so it never changes: whatever is forgotten, pruned or
/// killed, an item is right or is not visited any more.
///
/// Chunks are known by the first 64 bits of their ids, which is enough for a survey.
struct UsageIndex {
    enum Kind: UInt8 {
        case node = 0
        case state = 1
        /// A chunk of a file's content, or a list of slices.
        case content = 2
        /// A path with a content.
        case version = 3
        /// A path with an attribute whose value is in chunks.
        case attribute = 4

        var isChunk: Bool { self != .version && self != .attribute }
    }

    struct Item {
        let kind: Kind
        /// How many bases are below it.
        fileprivate let depth: UInt8
        /// The length of a chunk, unpacked; the number of the path of a version.
        let value: UInt32
        /// The beginning of the chunk's id; of the hash of a version's content.
        let key: UInt64
        /// The item whose list of needs this one changes; -1 for none.
        fileprivate let base: Int32
        /// Where, in `lists`, the needs of the base begin that this one has not, and then the further ones.
        fileprivate let start: Int
        fileprivate let middle: Int
    }

    private struct Key: Hashable {
        let kind: Kind
        let path: UInt32
        let key: UInt64

        // One number is hashed three times as fast as three. Equal contents have other paths.
        func hash(into hasher: inout Hasher) { hasher.combine(key ^ UInt64(path) << 32) }
    }

    private(set) var items: [Item] = []
    private(set) var paths: [[UInt8]] = []
    private var lists: [Int32] = []
    private var numbers: [Key: Int32] = [:]
    private var pathNumbers: [[UInt8]: UInt32] = [:]

    // A node mostly differs from an earlier one in one item. That one is found by the items that nodes begin with.
    private var latest: [Int32: Int32] = [:]
    private var isFindable: Set<Int32> = []
    /// The versions of files met so far, by hash: unchanged entries occur in many nodes.
    private var met: [Int: Int32] = [:]

    // What the catalogue has.
    private var lastPart: Int64 = 0
    private var savedItems = 0
    private var savedPaths = 0
    private var isSavable = true

    private static let depthLimit: UInt8 = 32
    /// The most items of a part, about; some 20 bytes each.
    private static let partItems = 1 << 16

    /// Reads what the catalogue has.
    init(_ catalogue: Catalogue) throws {
        var index = UsageIndex()
        try catalogue.forEachUsagePart { number, bytes in
            index.lastPart = number
            return index.read(bytes)
        }
        index.savedItems = index.items.count
        index.savedPaths = index.paths.count
        self = index
    }

    private init() {}

    // MARK: Asking

    /// The node, the state or the content with this chunk; nil if no survey has met it.
    func item(_ kind: Kind, _ id: ChunkID) -> Int32? { numbers[Key(kind: kind, path: 0, key: id.prefix)] }

    /// Calls `body` with what `item` needs; of what its base needs, too, only if that is not visited.
    func forEachNeed(of item: Int32, ifVisited isVisited: (Int32) -> Bool, _ body: (Int32) -> Void) {
        let base = items[Int(item)].base
        if base < 0 || isVisited(base) {
            for need in lists[items[Int(item)].middle..<end(of: item)] { body(need) }
        } else {
            for need in needs(of: item) { body(need) }
        }
    }

    private func end(of item: Int32) -> Int {
        Int(item) + 1 < items.count ? items[Int(item) + 1].start : lists.count
    }

    /// All that `item` needs, in the order of numbers.
    private func needs(of item: Int32) -> [Int32] {
        var chain = [item]
        while let base = chain.last.map({ items[Int($0)].base }), base >= 0 { chain.append(base) }
        var needs: [Int32] = []
        for link in chain.reversed() {
            let (start, middle) = (items[Int(link)].start, items[Int(link)].middle)
            needs = UsageIndex.changed(needs, without: lists[start..<middle], with: lists[middle..<end(of: link)])
        }
        return needs
    }

    /// The sorted `numbers` without some of them and with others, both sorted.
    private static func changed(
        _ numbers: [Int32], without removed: ArraySlice<Int32>, with added: ArraySlice<Int32>
    ) -> [Int32] {
        if numbers.isEmpty { return Array(added) }
        var result: [Int32] = []
        result.reserveCapacity(numbers.count + added.count)
        var (removed, added) = (removed, added)
        for number in numbers {
            while let next = added.first, next < number { result.append(added.removeFirst()) }
            if removed.first == number { removed.removeFirst() } else { result.append(number) }
        }
        return result + added
    }

    // MARK: Adding

    /// The node `id`; it is read, with what it needs, unless it is known.
    ///
    /// - Parameter level: the level that the node must have; nil for any.
    mutating func node(
        _ id: ChunkID, level: Int? = nil, from nodes: StoredNodes, _ progress: OperationProgress?
    ) throws -> Int32 {
        if let known = item(.node, id) { return known }
        switch try nodes.node(id, level: level) {
        case .inner(let level, let children):
            let needs = try children.map { child in try node(child.id, level: level - 1, from: nodes, progress) }
            return add(.node, id.prefix, length: 64 * children.count, needs)
        case .leaf(let entries):
            var needs: [Int32] = []
            for entry in entries {
                if entry.content != .none { needs.append(try version(entry.path, entry.content, nodes.store)) }
                for attribute in entry.attributes {
                    guard case .slices = attribute.value else { continue }
                    needs.append(try version(entry.path, attribute.value, nodes.store, as: .attribute))
                }
            }
            progress?.add(entries: entries.count)
            return add(.node, id.prefix, length: 96 * entries.count, needs)
        }
    }

    /// The saved state `id`; its record is read unless it is known.
    mutating func state(_ id: StateID, in store: ArchiveStore) throws -> Int32 {
        if let known = item(.state, id.chunk) { return known }
        return add(.state, id.chunk.prefix, length: 256, try needs(of: store.stateRecord(id).content, store))
    }

    private mutating func version(
        _ path: RelativePath, _ content: Content, _ store: ArchiveStore, as kind: Kind = .version
    ) throws -> Int32 {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(content)
        hasher.combine(kind)
        let hash = hasher.finalize()
        if let known = met[hash] { return known }
        let (number, key) = (number(of: path), UsageIndex.key(of: content))
        let found =
            try numbers[Key(kind: kind, path: number, key: key)]
            ?? add(kind, key, number, needs(of: content, store))
        met[hash] = found
        return found
    }

    private mutating func needs(of content: Content, _ store: ArchiveStore) throws -> [Int32] {
        switch content {
        case .none, .inline, .linkTarget: return []
        case .slices(let slices): return contents(slices)
        case .sliceLists(let lists):
            return try lists.map { list in
                if let known = item(.content, list.list) { return known }
                let needs = contents(try ContentReader.slices(in: list, of: store))
                return add(.content, list.list.prefix, length: 0, needs)
            }
        }
    }

    private mutating func contents(_ slices: [Slice]) -> [Int32] {
        slices.compactMap { slice in
            slice.chunk.map { id in
                item(.content, id) ?? add(.content, id.prefix, length: Int(clamping: slice.length), [])
            }
        }
    }

    private mutating func number(of path: RelativePath) -> UInt32 {
        if let known = pathNumbers[path.bytes] { return known }
        return add(path: path.bytes)
    }

    private mutating func add(path: [UInt8]) -> UInt32 {
        let number = UInt32(paths.count)
        paths.append(path)
        pathNumbers[path] = number
        return number
    }

    private mutating func add(_ kind: Kind, _ key: UInt64, length: Int, _ needs: [Int32]) -> Int32 {
        add(kind, key, UInt32(clamping: length), needs)
    }

    private mutating func add(_ kind: Kind, _ key: UInt64, _ value: UInt32, _ needs: [Int32]) -> Int32 {
        var last: Int32 = -1
        let needs = needs.sorted().filter { need in
            defer { last = need }
            return need != last
        }
        guard kind == .node else { return add(kind, key, value, removed: [], needs) }
        let number: Int32
        if let base = base(for: needs), let (removed, added) = difference(from: base, to: needs) {
            number = add(kind, key, value, base: base, removed: removed, added)
        } else {
            number = add(kind, key, value, removed: [], needs)
        }
        makeFindable(number, needs)
        return number
    }

    private mutating func add(
        _ kind: Kind, _ key: UInt64, _ value: UInt32, base: Int32 = -1, removed: [Int32], _ added: [Int32]
    ) -> Int32 {
        let number = Int32(items.count)
        let start = lists.count
        lists += removed
        lists += added
        items.append(
            Item(
                kind: kind, depth: base < 0 ? 0 : items[Int(base)].depth + 1, value: value, key: key, base: base,
                start: start, middle: start + removed.count))
        numbers[Key(kind: kind, path: kind.isChunk ? 0 : value, key: key)] = number
        return number
    }

    // MARK: Bases

    /// Makes the nodes of a known tree bases of those that are added.
    mutating func makeFindable(tree: Int32) {
        var waiting = [tree]
        while let item = waiting.popLast() {
            guard items[Int(item)].kind == .node, !isFindable.contains(item) else { continue }
            let needs = needs(of: item)
            makeFindable(item, needs)
            waiting += needs
        }
    }

    private mutating func makeFindable(_ node: Int32, _ needs: [Int32]) {
        isFindable.insert(node)
        guard let first = needs.first else { return }
        latest[first] = node
        latest[needs[needs.count / 2]] = node
    }

    private func base(for needs: [Int32]) -> Int32? {
        guard let first = needs.first else { return nil }
        let found = latest[needs[needs.count / 2]] ?? latest[first]
        return found.flatMap { items[Int($0)].depth < UsageIndex.depthLimit ? $0 : nil }
    }

    /// What `needs` lacks and has besides what `base` needs; nil if that is not much shorter.
    private func difference(from base: Int32, to needs: [Int32]) -> (removed: [Int32], added: [Int32])? {
        let (old, limit) = (self.needs(of: base), needs.count / 4)
        var (removed, added): ([Int32], [Int32]) = ([], [])
        var (index, place) = (0, 0)
        while index < needs.count || place < old.count, removed.count <= limit, added.count <= limit {
            if place == old.count || index < needs.count && needs[index] < old[place] {
                added.append(needs[index])
                index += 1
            } else if index == needs.count || old[place] < needs[index] {
                removed.append(old[place])
                place += 1
            } else {
                (index, place) = (index + 1, place + 1)
            }
        }
        return removed.count <= limit && added.count <= limit ? (removed, added) : nil
    }

    // MARK: Saving

    /// Saves what was added if it is much, or all of it.
    ///
    /// It is only a shortcut for later surveys, so this one does not fail if it cannot be saved.
    mutating func save(_ catalogue: Catalogue, all: Bool) {
        guard isSavable, items.count - savedItems >= (all ? 1 : UsageIndex.partItems) else { return }
        let part = UsageIndex.part(self, items: savedItems, paths: savedPaths)
        guard let number = try? catalogue.enter(usagePart: part, after: lastPart) else { return isSavable = false }
        (lastPart, savedItems, savedPaths) = (number, items.count, paths.count)
    }

    /// Replaces what the catalogue has by the items of which `isUsed` is true and what they need.
    func compact(_ catalogue: Catalogue, _ isUsed: (Int32) -> Bool) {
        guard isSavable else { return }
        var rest = UsageIndex()
        var places: [Int32: Int32] = [:]
        for number in items.indices.map({ Int32($0) }) where isUsed(number) {
            let item = items[Int(number)]
            let needs = needs(of: number).compactMap { places[$0] }
            let value = item.kind.isChunk ? item.value : rest.number(ofPath: paths[Int(item.value)])
            places[number] = rest.add(item.kind, item.key, value, needs)
        }
        _ = try? catalogue.enter(
            usagePart: UsageIndex.part(rest, items: 0, paths: 0), after: lastPart, isReplacing: true)
    }

    private mutating func number(ofPath path: [UInt8]) -> UInt32 { pathNumbers[path] ?? add(path: path) }

    /// Encodes the items and the paths from some numbers on.
    private static func part(_ index: UsageIndex, items start: Int, paths pathStart: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        LEB128.append(index.paths.count - pathStart, to: &bytes)
        for path in index.paths[pathStart...] {
            LEB128.append(path.count, to: &bytes)
            bytes += path
        }
        LEB128.append(index.items.count - start, to: &bytes)
        for (number, item) in zip(start..., index.items[start...]) {
            bytes.append(item.kind.rawValue << 1 | (item.base < 0 ? 0 : 1))
            withUnsafeBytes(of: item.key.littleEndian) { bytes += $0 }
            LEB128.append(Int(item.value), to: &bytes)
            if item.base >= 0 {
                LEB128.append(number - Int(item.base), to: &bytes)
                append(index.lists[item.start..<item.middle], below: number, to: &bytes)
            }
            append(index.lists[item.middle..<index.end(of: Int32(number))], below: number, to: &bytes)
        }
        return bytes
    }

    /// Appends sorted numbers as the distances between them, the greatest first.
    private static func append(_ numbers: ArraySlice<Int32>, below limit: Int, to bytes: inout [UInt8]) {
        LEB128.append(numbers.count, to: &bytes)
        var last = limit
        for number in numbers.reversed() {
            LEB128.append(last - Int(number), to: &bytes)
            last = Int(number)
        }
    }

    // MARK: Reading

    /// Adds the items and paths of a part.
    ///
    /// - Returns: false if the bytes are no part.
    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = Reader(bytes)
        guard let pathCount = reader.number() else { return false }
        for _ in 0..<pathCount {
            guard let count = reader.number(), let path = reader.bytes(count), RelativePath(path) != nil else {
                return false
            }
            _ = add(path: path)
        }
        guard let count = reader.number(), count <= bytes.count else { return false }
        numbers.reserveCapacity(numbers.count + count)
        for _ in 0..<count { guard readItem(&reader) else { return false } }
        return reader.isAtEnd
    }

    private mutating func readItem(_ reader: inout Reader) -> Bool {
        guard let head = reader.bytes(1)?.first, let kind = Kind(rawValue: head >> 1), let key = reader.key(),
            let value = reader.number().flatMap({ UInt32(exactly: $0) }), kind.isChunk || value < paths.count,
            items.count < Int32.max
        else { return false }
        var (base, removed): (Int32, [Int32]) = (-1, [])
        if head & 1 != 0 {
            guard let distance = reader.number(), (1...max(1, items.count)).contains(distance), !items.isEmpty,
                items[items.count - distance].depth < UsageIndex.depthLimit,
                let numbers = reader.numbers(below: items.count)
            else { return false }
            (base, removed) = (Int32(items.count - distance), numbers)
        }
        guard let added = reader.numbers(below: items.count) else { return false }
        _ = add(kind, key, value, base: base, removed: removed, added)
        return true
    }

    private struct Reader {
        private let data: UnsafeRawBufferPointer
        private var position = 0

        init(_ data: UnsafeRawBufferPointer) { self.data = data }

        var isAtEnd: Bool { position == data.count }

        mutating func number() -> Int? {
            guard let (value, end) = LEB128.number(in: data, at: position) else { return nil }
            position = end
            return value
        }

        mutating func bytes(_ count: Int) -> [UInt8]? {
            guard count <= data.count - position else { return nil }
            defer { position += count }
            return Array(data[position..<(position + count)])
        }

        mutating func key() -> UInt64? {
            guard data.count - position >= 8 else { return nil }
            defer { position += 8 }
            return UInt64(littleEndian: data.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        }

        /// Reads numbers that are written as distances; returns them in their order.
        mutating func numbers(below limit: Int) -> [Int32]? {
            guard let count = number(), count <= data.count - position else { return nil }
            var numbers: [Int32] = []
            numbers.reserveCapacity(count)
            var last = limit
            for _ in 0..<count {
                guard let distance = number(), distance > 0, distance <= last else { return nil }
                last -= distance
                numbers.append(Int32(last))
            }
            numbers.reverse()
            return numbers
        }
    }

    /// The same for the same content, in any process.
    private static func key(of content: Content) -> UInt64 {
        var bytes: [UInt8] = []
        switch content {
        case .none: return 0
        case .inline(let data): bytes = [1] + data
        case .linkTarget(let target): bytes = [2] + target
        case .slices(let slices):
            bytes = [3]
            for slice in slices {
                withUnsafeBytes(of: slice.length.littleEndian) { bytes += $0 }
                bytes += slice.chunk?.bytes ?? []
            }
        case .sliceLists(let lists):
            bytes = [4]
            for list in lists { bytes += list.list.bytes }
        }
        return ChunkID(hashing: bytes).prefix
    }
}
