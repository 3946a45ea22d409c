// A cache on saved states: what is costly to get is got once, within a budget.

public import Archives
internal import Restoring
internal import Threading

/// Keeps values that are costly to get, such as pictures from a server: each is fetched once and is there from then on,
/// without the server, too.
///
/// All of them together have no more bytes than the budget; those that were used least recently go first. Each value is
/// a state of its own under the title of the cache, a slash and its key; what is kept is a state under the cache's title.
/// What goes is forgotten: its bytes stay in the archive until that is pruned.
///
/// Several programs may use one cache. Reading is noted in memory, and saved with the next value that is fetched.
public final class StateCache<Value: Codable & Sendable>: Sendable {
    /// The name under which the values are kept.
    public let title: String
    /// The most bytes that the values may have together.
    public let budget: UInt64

    private let archive: Archive
    private let progress = Locked(Progress())

    private struct Progress {
        /// Keys that were read and are to be noted as used, each with the number of its last use.
        private var uses: [String: Int] = [:]
        private var count = 0
        /// Values on their way.
        var fetches: [String: Task<Value, any Error>] = [:]

        /// The keys that were read, the latest last.
        var used: [String] { uses.sorted { $0.value < $1.value }.map(\.key) }

        mutating func use(_ key: String) {
            count += 1
            uses[key] = count
        }

        /// Gives the keys that were read, and forgets them.
        mutating func takeUsed() -> [String] {
            defer { uses = [:] }
            return used
        }
    }

    /// A cache in `archive`; what was kept under the title before is there.
    public init(_ title: String, in archive: Archive, budget: UInt64) {
        self.title = title
        self.archive = archive
        self.budget = budget
    }

    /// The value for `key`: the one that is kept, else what `fetch` returns, which is then kept.
    ///
    /// Those who ask for the same key at the same time share one fetch.
    ///
    /// - Throws: what `fetch` throws; `StateError` where the value cannot be kept.
    public func value(
        for key: String, orFetch fetch: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let kept = try await value(for: key) { return kept }
        let task = progress.withLock { progress in
            if let running = progress.fetches[key] { return running }
            let task = Task { try await self.keep(fetch(), for: key) }
            progress.fetches[key] = task
            return task
        }
        defer { progress.withLock { $0.fetches[key] = nil } }
        return try await task.value
    }

    /// The value that is kept for `key`; nil where there is none, or it is damaged.
    public func value(for key: String) async throws(StateError) -> Value? {
        let (archive, title) = (archive, title)
        let found = try await Blocking.run { () throws(StateError) -> Value? in
            guard try Self.contents(of: title, in: archive).items[key] != nil else { return nil }
            // What cannot be read is got anew.
            return try? archive.load(Value.self, Self.title(of: key, in: title))
        }
        if found != nil { progress.withLock { $0.use(key) } }
        return found
    }

    /// The keys of what is kept, the one that was used least recently first.
    public func keys() async throws(StateError) -> [String] {
        try await contents().keys
    }

    /// The bytes of all values that are kept.
    public func bytes() async throws(StateError) -> UInt64 {
        try await contents().bytes
    }

    /// Keeps `value` for `key` instead of what was kept.
    ///
    /// Where it alone is larger than the budget, it is not kept.
    @discardableResult
    public func keep(_ value: Value, for key: String) async throws(StateError) -> Value {
        let used = progress.withLock { $0.takeUsed() }
        let (archive, title, budget) = (archive, title, budget)
        return try await Blocking.run { () throws(StateError) in
            let memento = try archive.save(value, as: Self.title(of: key, in: title))
            let gone = try Self.change(title, archive) { contents in
                for used in used { contents.use(used) }
                contents.enter(key, bytes: memento.bytes)
                return contents.shrink(to: budget)
            }
            try Self.forget(gone, of: title, archive)
            let former = try archive.history(of: memento.title).filter { $0.id != memento.id }
            if !former.isEmpty { try archive.forget(former) }
            return value
        }
    }

    /// Forgets the value that is kept for `key`.
    public func remove(_ key: String) async throws(StateError) {
        let (archive, title) = (archive, title)
        try await Blocking.run { () throws(StateError) in
            let isThere = try Self.change(title, archive) { $0.items.removeValue(forKey: key) != nil }
            if isThere { try Self.forget([key], of: title, archive) }
        }
    }

    // MARK: What is kept

    private func contents() async throws(StateError) -> CacheContents {
        let (archive, title) = (archive, title)
        var contents = try await Blocking.run { () throws(StateError) in try Self.contents(of: title, in: archive) }
        for used in progress.withLock({ $0.used }) { contents.use(used) }
        return contents
    }

    private static func contents(of title: String, in archive: Archive) throws(StateError) -> CacheContents {
        do throws(StateError) { return try archive.load(title) } catch {
            guard case .noSuchState = error else { throw error }
            return CacheContents()
        }
    }

    private static func change<Result>(
        _ title: String, _ archive: Archive, _ body: (inout CacheContents) -> Result
    ) throws(StateError) -> Result {
        try stating {
            try archive.update(title, startingFrom: CacheContents()) { (contents: inout CacheContents) in
                body(&contents)
            }
        }
    }

    private static func title(of key: String, in title: String) -> String { "\(title)/\(key)" }

    /// Forgets the states of values that are not kept any more.
    private static func forget(_ keys: [String], of title: String, _ archive: Archive) throws(StateError) {
        for key in keys { try archive.forget(archive.history(of: self.title(of: key, in: title))) }
    }
}

/// What a cache keeps, and when it was used.
struct CacheContents: Codable, Sendable, Equatable {
    struct Item: Codable, Sendable, Equatable {
        var bytes: UInt64
        /// Counts all uses of the cache; the greater, the later.
        var use: UInt64
    }

    var items: [String: Item] = [:]
    private var uses: UInt64 = 0

    /// Bytes of all items; the greatest number where they are more, as what was read may say anything.
    var bytes: UInt64 { items.values.reduce(0) { $0.addingSaturating($1.bytes) } }

    /// The keys, the one that was used least recently first.
    var keys: [String] { items.sorted { $0.value.use < $1.value.use }.map(\.key) }

    mutating func use(_ key: String) {
        guard items[key] != nil else { return }
        uses = uses.addingSaturating(1)
        items[key]?.use = uses
    }

    mutating func enter(_ key: String, bytes: UInt64) {
        items[key] = Item(bytes: bytes, use: 0)
        use(key)
    }

    /// Removes what was used least recently until the rest is within `budget`.
    ///
    /// - Returns: the keys of what is gone.
    mutating func shrink(to budget: UInt64) -> [String] {
        var gone: [String] = []
        // What is too large for the whole budget must not take all others along.
        for (key, item) in items where item.bytes > budget { gone.append(key) }
        for key in gone { items[key] = nil }
        var kept: UInt64 = 0
        for key in keys.reversed() {
            kept = kept.addingSaturating(items[key]?.bytes ?? 0)
            if kept > budget { gone.append(key) }
        }
        for key in gone { items[key] = nil }
        return gone
    }
}
