// A cache on saved states: each value is fetched once, and the budget is respected.

import ArchiveStorage
import Foundation
import TestTraits
import Testing
import Threading

@testable import ArchiverKit
@testable import SavedStates

/// Returns pictures, and records the requests.
private final class Server: Sendable {
    struct Unreachable: Error {}

    private let asked = Locked<[String]>([])
    private let isUp = Locked(true)
    var log: [String] { asked.withLock { $0 } }

    func stop() { isUp.withLock { $0 = false } }

    func picture(_ name: String, bytes count: Int = 1000) throws -> Data {
        asked.withLock { $0.append(name) }
        guard isUp.withLock({ $0 }) else { throw Unreachable() }
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}

@Suite("A cache of states", .blocking)
struct StateCacheTests {
    private let sandbox: Sandbox
    private let server = Server()
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    private func cache(budget: UInt64 = 1 << 20) -> StateCache<Data> {
        StateCache("covers", in: archive, budget: budget)
    }

    @Test("wrong sizes do not overflow: the last used value stays within the budget")
    func greatSizes() {
        var contents = CacheContents()
        for key in ["a", "b"] { contents.enter(key, bytes: .max - 1) }
        #expect(contents.bytes == .max)
        #expect(contents.shrink(to: .max - 1) == ["a"])
        #expect(contents.keys == ["b"])
    }

    @Test("a value is fetched once, and is available without the server, also in the next run")
    func offline() async throws {
        let first = try await cache().value(for: "blue") { [server] in try server.picture("blue") }
        server.stop()
        let again = try await cache().value(for: "blue") { [server] in try server.picture("blue") }
        #expect(again == first)
        #expect(server.log == ["blue"])
        let elsewhere = StateCache<Data>("covers", in: try sandbox.reopened(), budget: 1 << 20)
        #expect(try await elsewhere.value(for: "blue") == first)
        await #expect(throws: Server.Unreachable.self) {
            try await cache().value(for: "new") { [server] in try server.picture("new") }
        }
        #expect(try await cache().value(for: "new") == nil)
    }

    @Test("the least recently used value is removed first, and the budget is respected")
    func budget() async throws {
        let cache = cache(budget: 3500)
        for name in ["a", "b", "c"] { _ = try await cache.value(for: name) { [server] in try server.picture(name) } }
        #expect(try await cache.keys() == ["a", "b", "c"])
        _ = try await cache.value(for: "a")
        #expect(try await cache.keys() == ["b", "c", "a"])
        _ = try await cache.value(for: "d") { [server] in try server.picture("d") }
        #expect(try await cache.keys() == ["c", "a", "d"])
        #expect(try await cache.bytes() <= 3500)
        #expect(try await cache.value(for: "b") == nil)
        #expect(
            try archive.titles().map(\.title).sorted() == [
                "cache:covers", "cache:covers/a", "cache:covers/c", "cache:covers/d",
            ])
    }

    @Test("a value larger than the budget is returned, and removes no other value")
    func large() async throws {
        let cache = cache(budget: 3500)
        for name in ["a", "b"] { _ = try await cache.value(for: name) { [server] in try server.picture(name) } }
        let large = try await cache.value(for: "large") { [server] in try server.picture("large", bytes: 5000) }
        #expect(large.count == 5000)
        #expect(try await cache.keys() == ["a", "b"])
    }

    @Test("concurrent requests for one value share one fetch")
    func together() async throws {
        let cache = cache()
        let (waiting, release) = AsyncStream.makeStream(of: Void.self)
        let pictures = try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    try await cache.value(for: "blue") { [server] in
                        for await _ in waiting {}
                        return try server.picture("blue")
                    }
                }
            }
            release.finish()
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(pictures.count == 1)
        #expect(server.log.count == 1)
    }

    @Test("a value is replaced and removed, with its former states")
    func replacing() async throws {
        let cache = cache()
        try await cache.store(Data([1]), for: "a")
        try await cache.store(Data([2]), for: "a")
        #expect(try await cache.value(for: "a") == Data([2]))
        #expect(try archive.history(of: "cache:covers/a").count == 1)
        try await cache.remove("a")
        try await cache.remove("a")
        #expect(try await cache.value(for: "a") == nil)
        #expect(try await cache.keys().isEmpty)
        #expect(try archive.history(of: "cache:covers/a").isEmpty)
    }

    @Test("two caches never return each other's values, whatever their titles and keys contain")
    func apart() async throws {
        let pairs = [
            ("covers", "small/blue"), ("covers/small", "blue"), ("covers%2Fsmall", "blue"), ("covers", "small%2Fblue"),
            ("covers", ""), ("covers", "a\nb"), ("covers", "cache:covers"),
        ]
        for (number, pair) in pairs.enumerated() {
            try await StateCache<Int>(pair.0, in: archive, budget: 1 << 20).store(number, for: pair.1)
        }
        for (number, pair) in pairs.enumerated() {
            #expect(try await StateCache<Int>(pair.0, in: archive, budget: 1 << 20).value(for: pair.1) == number)
        }
    }

    @Test("a state saved under a cache's title does not disturb the cache, and nobody else can save a cache's states")
    func reserved() async throws {
        try await archive.save("not a list of values", as: "covers")
        try await cache().store(Data([1]), for: "a")
        #expect(try await cache().value(for: "a") == Data([1]))
        #expect(try await archive.load(String.self, as: "covers") == "not a list of values")
        for title in try archive.titles().map(\.title) where title != "covers" {
            await #expect(throws: StateError.self) { try await archive.save(1, as: title) }
            await #expect(throws: StateError.self) { try await archive.update(title, startingFrom: 1) { $0 += 1 } }
        }
        #expect(try await cache().value(for: "a") == Data([1]))
    }

    @Test("a fetch that asks for its own value, or for one whose fetch waits for it, fails instead of waiting for ever")
    func circles() async throws {
        let cache = cache()
        await #expect {
            try await cache.value(for: "a") { try await cache.value(for: "a") { Data() } }
        } throws: { error in
            guard case .fetchesEntangled(cache: "covers", key: "a", fetched: "a")? = error as? StateError else {
                return false
            }
            return true
        }
        await #expect {
            try await cache.value(for: "a") {
                try await cache.value(for: "b") { try await cache.value(for: "a") { Data() } }
            }
        } throws: { error in
            guard case .fetchesEntangled(cache: "covers", key: "a", fetched: "b")? = error as? StateError else {
                return false
            }
            return true
        }
        let both = try await cache.value(for: "a") { try await cache.value(for: "b") { Data([1]) } + Data([2]) }
        #expect(both == Data([1, 2]))
        #expect(try await cache.value(for: "b") == Data([1]))
    }

    @Test("several programs fill one cache, and no value is lost")
    func severalPrograms() async throws {
        let archives = try (0..<4).map { _ in try sandbox.reopened() }
        try await withThrowingTaskGroup { group in
            for (number, archive) in archives.enumerated() {
                group.addTask {
                    let cache = StateCache<Int>("numbers", in: archive, budget: 1 << 20)
                    for key in 0..<10 { try await cache.store(key, for: "\(number).\(key)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await StateCache<Int>("numbers", in: archive, budget: 1 << 20).keys().count == 40)
    }
}
