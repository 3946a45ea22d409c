// Searches: results as they are found, an end when nobody waits for them, and no delay of other answers.

import ArchiverKit
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import TimelineServer

/// Stops searches at a number of results until it is opened.
private final class Gate: Sendable {
    private let place: Int
    private let permits = Locked(0)
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation
    private let endings: AsyncStream<Search.Ending>
    private let ended: AsyncStream<Search.Ending>.Continuation

    init(at place: Int) {
        self.place = place
        (arrivals, arrived) = AsyncStream.makeStream()
        (endings, ended) = AsyncStream.makeStream()
    }

    var hooks: SearchHooks { SearchHooks(onResult: pass, onEnd: { [ended] in ended.yield($0) }) }

    /// Computes like a long search: threads that only wait are replaced by others, those that compute are not.
    private func pass(_ count: Int) {
        guard count == place else { return }
        arrived.yield()
        while !permits.withLock({ permits in
            if permits > 0 {
                permits -= 1
                return true
            }
            return false
        }) {
            sched_yield()
        }
    }

    /// Waits until this many searches have arrived.
    func waitForSearches(_ count: Int) async {
        var rest = count
        for await _ in arrivals {
            rest -= 1
            if rest == 0 { return }
        }
    }

    /// Waits until a search ends, and returns how.
    func waitForEnd() async -> Search.Ending? {
        for await ending in endings { return ending }
        return nil
    }

    func open(_ count: Int) { permits.withLock { $0 += count } }
}

@Suite(.blocking) struct SearchTests {
    private struct Roots: Decodable {
        struct Root: Decodable { let id: String }
        let roots: [Root]
    }

    private static func past(_ scratch: TemporaryDirectory, _ archive: Archive) throws {
        for number in 0..<3 { try scratch.write("root/\(number).txt", "a line of \(number)\n") }
        _ = try archive.capture(scratch.path.pushing("root"))
    }

    private func search(_ place: ServerPlace, _ kind: String) throws -> String {
        let root = try #require(try place.get(Roots.self, "roots").roots.first).id
        return "search?root=\(root)&kind=\(kind)&q=\(kind == "names" ? "txt" : "line")"
    }

    @Test("eight searches of lines that take long delay no other answer, and no search of names")
    func others() async throws {
        let gate = Gate(at: 1)
        defer { gate.open(8) }
        let place = try await ServerPlace(hooks: gate.hooks, past: SearchTests.past)
        func begin(_ target: String) throws -> Connection {
            var headers = place.headers
            headers["X-Archiver-Session"] = try place.newSession()
            return try Connection(place.port, "GET", "/api/1/\(target)", headers, "")
        }
        let target = try search(place, "content")
        let searches = try (0..<8).map { _ in try begin(target) }
        // Others wait until these are done.
        await gate.waitForSearches(2)
        for _ in 0..<3 { #expect(try place.get(Roots.self, "roots").roots.count == 1) }
        // Nothing has this name, so that the gate does not stop the search.
        try begin(search(place, "names") + "-of-no-file").wait(for: #""end":true"#)
        gate.open(8)
        for search in searches { try search.wait(for: #""end":true"#) }
    }

    @Test("results arrive before the search ends", arguments: ["names", "content"])
    func streamed(kind: String) async throws {
        let gate = Gate(at: 1)
        defer { gate.open(1) }
        let place = try await ServerPlace(hooks: gate.hooks, past: SearchTests.past)
        let connection = try place.connection(search(place, kind))
        try connection.wait(for: "0.txt")
        gate.open(1)
        try connection.wait(for: #""count":3"#)
    }

    @Test("a new search of a session ends its earlier one")
    func replaced() async throws {
        let gate = Gate(at: 1)
        defer { gate.open(2) }
        let place = try await ServerPlace(hooks: gate.hooks, past: SearchTests.past)
        let target = try search(place, "names")
        let first = try place.connection(target)
        try first.wait(for: "0.txt")
        let second = try place.connection(target)
        // The answer ends at once, even if the search is busy.
        try first.wait(for: #""code":"replaced""#)
        #expect(await gate.waitForEnd() == .replaced)
        gate.open(2)
        try second.wait(for: #""count":3"#)
    }

    @Test("a closed connection ends its search")
    func closed() async throws {
        let counts = Locked<[Int]>([])
        let gate = Gate(at: 1)
        defer { gate.open(2) }
        var hooks = gate.hooks
        hooks.onResult = { [pass = hooks.onResult] count in
            counts.withLock { $0.append(count) }
            pass(count)
        }
        let place = try await ServerPlace(hooks: hooks, past: SearchTests.past)
        let target = try search(place, "names")
        do {
            let connection = try place.connection(target)
            try connection.wait(for: "0.txt")
        }
        #expect(await gate.waitForEnd() == .closed)
        gate.open(1)
        let other = try place.connection(target)
        await gate.waitForSearches(2)
        gate.open(1)
        try other.wait(for: #""count":3"#)
        // The first search may tell of its result after its end.
        #expect(counts.withLock { $0.sorted() } == [0, 0, 1, 1, 2, 3], "the first search finds nothing more")
    }
}
