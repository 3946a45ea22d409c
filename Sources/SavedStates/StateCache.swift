// A cache on saved states: costly values are fetched once and stored within a budget.

internal import ArchiveStorage
public import Archives
internal import Restoring
internal import Threading

/// Caches values that are costly to fetch, such as pictures from a server, so that each is fetched once and is then
/// available without the server.
///
/// The size of all values together stays within the budget; the least recently used are removed first. A removed value
/// is forgotten: its bytes stay in the archive until it is pruned. The list of values and each value are states whose
/// titles begin with `cache:` and the cache's title; nothing else can be saved under such a title.
///
/// Several programs may use one cache. Uses are recorded in memory, and saved with the next fetched value.
public final class StateCache<Value: Codable & Sendable>: Sendable {
    /// The title of the cache.
    public let title: String
    /// The maximum size of all values together, in bytes.
    public let budget: UInt64

    private let archive: Archive
    private let progress = Locked(Progress())

    private struct Progress {
        /// Keys whose uses are not saved yet, each with the number of its last use.
        private var uses: [String: Int] = [:]
        private var count = 0
        /// Fetches in progress.
        var fetches: [String: Task<Value, any Error>] = [:]
        /// The values that the fetch of a value waits for.
        var wanted: [String: [String]] = [:]

        /// Whether the fetch of `key` waits for the value of `other`, directly or through others.
        func waits(_ key: String, for other: String) -> Bool {
            var (found, seen) = ([key], Set<String>())
            while let next = found.popLast() {
                if next == other { return true }
                if seen.insert(next).inserted { found += wanted[next] ?? [] }
            }
            return false
        }

        /// The keys that were used, the latest last.
        var used: [String] { uses.sorted { $0.value < $1.value }.map(\.key) }

        mutating func use(_ key: String) {
            count += 1
            uses[key] = count
        }

        /// Returns the keys that were used, and clears them.
        mutating func takeUsed() -> [String] {
            defer { uses = [:] }
            return used
        }
    }

    /// A cache in `archive`, with the values already stored under the title.
    public init(_ title: String, in archive: Archive, budget: UInt64) {
        self.title = title
        self.archive = archive
        self.budget = budget
    }

    /// The cached value for `key`; if there is none, fetches and caches it.
    ///
    /// Concurrent requests for one key share one fetch.
    ///
    /// - Parameter fetch: gets the value from its source. It may use the cache for other values.
    /// - Throws: any error of `fetch`; `StateError` if the value cannot be stored, and `fetchesEntangled` if `fetch` asks
    ///   for a value whose fetch waits for this one.
    public func value(
        for key: String, orFetch fetch: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let kept = try await value(for: key) { return kept }
        let chain = CacheFetch.present
        let asking = chain.last { $0.cache == ObjectIdentifier(self) }?.key
        let task = try progress.withLock { progress throws(StateError) in
            if let asking {
                if progress.fetches[key] != nil, progress.waits(key, for: asking) {
                    throw .fetchesEntangled(cache: title, key: key, fetched: asking)
                }
                progress.wanted[asking, default: []].append(key)
            }
            if let running = progress.fetches[key] { return running }
            let task = Task {
                try await CacheFetch.$present.withValue(chain + [CacheFetch(cache: ObjectIdentifier(self), key: key)]) {
                    defer { self.progress.withLock { $0.fetches[key] = nil } }
                    return try await self.store(fetch(), for: key)
                }
            }
            progress.fetches[key] = task
            return task
        }
        defer {
            if let asking {
                progress.withLock { progress in
                    if let index = progress.wanted[asking]?.firstIndex(of: key) {
                        progress.wanted[asking]?.remove(at: index)
                    }
                    if progress.wanted[asking]?.isEmpty == true { progress.wanted[asking] = nil }
                }
            }
        }
        return try await task.value
    }

    /// The cached value for `key`; nil if there is none, or if it is damaged.
    ///
    /// - Throws: `StateError` if the archive cannot be read.
    public func value(for key: String) async throws(StateError) -> Value? {
        let (archive, title) = (archive, title)
        let found = try await Blocking.run { () throws(StateError) -> Value? in
            guard try Self.contents(of: title, in: archive).items[key] != nil else { return nil }
            // A value that cannot be read is fetched again.
            return try? archive.load(Value.self, as: StateCacheTitle(title).title(of: key))
        }
        if found != nil { progress.withLock { $0.use(key) } }
        return found
    }

    /// The keys of the cached values, the least recently used first.
    ///
    /// - Throws: `StateError` if the archive cannot be read.
    public func keys() async throws(StateError) -> [String] {
        try await contents().keys
    }

    /// The size of all cached values in bytes.
    ///
    /// - Throws: `StateError` if the archive cannot be read.
    public func bytes() async throws(StateError) -> UInt64 {
        try await contents().bytes
    }

    /// Caches `value` for `key`, replacing the former value.
    ///
    /// A value larger than the budget is not cached.
    ///
    /// - Throws: `StateError`: `unencodable` if the value cannot be encoded, `archive` if the archive failed…
    @discardableResult
    public func store(_ value: Value, for key: String) async throws(StateError) -> Value {
        let used = progress.withLock { $0.takeUsed() }
        let (archive, title, budget) = (archive, title, budget)
        let store = StateStore<Value>(title: StateCacheTitle(title).title(of: key), archive: archive, isOfCache: true)
        let memento = try await store.saveInTurn(value, label: nil)
        let gone = try await change { contents in
            for used in used { contents.use(used) }
            contents.enter(key, bytes: memento.bytes)
            return contents.shrink(to: budget)
        }
        try await Blocking.run { () throws(StateError) in
            try Self.forget(gone, of: title, archive)
            let former = try archive.history(of: memento.title).filter { $0.id != memento.id }
            if !former.isEmpty { try archive.forget(former) }
        }
        return value
    }

    /// Removes the cached value for `key`.
    ///
    /// - Throws: `StateError` if the archive failed.
    public func remove(_ key: String) async throws(StateError) {
        let (archive, title) = (archive, title)
        guard try await change({ $0.items.removeValue(forKey: key) != nil }) else { return }
        try await Blocking.run { () throws(StateError) in try Self.forget([key], of: title, archive) }
    }

    // MARK: Contents

    private func contents() async throws(StateError) -> CacheContents {
        let (archive, title) = (archive, title)
        var contents = try await Blocking.run { () throws(StateError) in try Self.contents(of: title, in: archive) }
        for used in progress.withLock({ $0.used }) { contents.use(used) }
        return contents
    }

    private static func contents(of title: String, in archive: Archive) throws(StateError) -> CacheContents {
        do throws(StateError) { return try archive.load(as: StateCacheTitle(title).list) } catch {
            guard case .noSuchState = error else { throw error }
            return CacheContents()
        }
    }

    private func change<Result: Sendable>(
        _ body: @escaping @Sendable (inout CacheContents) -> Result
    ) async throws(StateError) -> Result {
        let store = StateStore<CacheContents>(title: StateCacheTitle(title).list, archive: archive, isOfCache: true)
        return try await stating { try await store.updateInTurn(from: CacheContents(), label: nil, body) }
    }

    /// Forgets the states of removed values.
    private static func forget(_ keys: [String], of title: String, _ archive: Archive) throws(StateError) {
        for key in keys { try archive.forget(archive.history(of: StateCacheTitle(title).title(of: key))) }
    }
}

/// The titles of a cache's states, which no other state has.
struct StateCacheTitle {
    /// The beginning of all of them.
    static let prefix = "cache:"

    /// The title of the list of values.
    let list: String

    init(_ cache: String) {
        list = StateCacheTitle.prefix + StateCacheTitle.escaped(cache)
    }

    /// The title of the value of `key`.
    func title(of key: String) -> String { "\(list)/\(StateCacheTitle.escaped(key))" }

    /// Escapes slashes, because they separate titles from keys, and what no title may have.
    private static func escaped(_ text: String) -> String {
        StateTitle.canonical(text).unicodeScalars.reduce(into: "") { escaped, scalar in
            let isPlain = scalar != "/" && scalar != "%" && scalar.properties.generalCategory != .control
            if isPlain { escaped.unicodeScalars.append(scalar) } else { escaped += "%\(scalar.value);" }
        }
    }
}

/// A fetch of a cache's value.
private struct CacheFetch {
    let cache: ObjectIdentifier
    let key: String

    /// The fetches that the present task is part of, the innermost last.
    @TaskLocal static var present: [CacheFetch] = []
}

/// The values of a cache, with their sizes and uses.
struct CacheContents: Codable, Sendable, Equatable {
    struct Item: Codable, Sendable, Equatable {
        var bytes: UInt64
        /// The number of the item's last use, counted over the whole cache.
        var use: UInt64
    }

    var items: [String: Item] = [:]
    private var uses: UInt64 = 0

    /// The size of all items in bytes; saturates, because a stored size may be wrong.
    var bytes: UInt64 { items.values.reduce(0) { $0.addingSaturating($1.bytes) } }

    /// The keys, the least recently used first.
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

    /// Removes the least recently used items until the rest is within `budget`.
    ///
    /// - Returns: the keys of the removed items.
    mutating func shrink(to budget: UInt64) -> [String] {
        var gone: [String] = []
        // An item larger than the whole budget must not push out all others.
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
