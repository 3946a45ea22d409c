// S3 against the servers of others.

import Dispatch
import Glibc
import TestSupport
import TestTraits
import Testing
import Threading

@testable import ObjectStore

@Suite(.blocking, .serialized, .enabled(if: !RunningServer.all.isEmpty, "S3_SERVERS names running servers"))
struct S3ServersTests {
    private let name: ObjectName

    init() throws { name = try #require(ObjectName("segments/a.age")) }

    private func store(
        _ server: RunningServer, _ bucket: String, _ keys: [String: String] = [:], secondsAhead: Int64 = 0
    ) throws -> S3Store {
        try S3Store(
            bucket: bucket, prefix: "desk/", endpoint: server.endpoint, region: nil, profile: nil,
            environment: ["HOME": "/nonexistent"].merging(server.keys.merging(keys) { $1 }) { $1 },
            clock: { Int64(time(nil)) + secondsAhead })
    }

    @Test("a bucket of another's server is a store as any other", arguments: RunningServer.all)
    func contract(_ server: RunningServer) throws {
        let store = try store(server, try server.makeBucket())
        try StoreContract.check(store, keepsObjects: server.conditions != .ignored)
        #expect(store.refusesToOverwrite == (server.conditions != .refused))
    }

    @Test(
        "an object that several create at once is whole, and a server with conditions lets one of them",
        arguments: RunningServer.all)
    func race(_ server: RunningServer) throws {
        let store = try store(server, try server.makeBucket())
        for number in 0..<10 {
            let name = try #require(ObjectName("race/\(number)"))
            let bytes = (0..<4).map { [UInt8](repeating: $0, count: 100_000) }
            let outcomes = Locked<[PutOutcome?]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                let outcome = try? store.put(name, bytes[index])
                outcomes.withLock { $0.append(outcome) }
            }
            let all = outcomes.withLock { $0 }
            #expect(all.count == 4 && all.contains(.created))
            if server.conditions == .obeyed { #expect(all.filter { $0 == .created }.count == 1) }
            #expect(bytes.contains(try store.get(name)))
        }
    }

    @Test("more objects than a page of the list has are listed in order, each once", arguments: RunningServer.all)
    func pages(_ server: RunningServer) throws {
        let store = try store(server, try server.makeBucket())
        var names: [String] = []
        for number in 0..<1_100 {
            let name = try #require(ObjectName("tails/\(number % 7)/\(number)"))
            #expect(try store.put(name, [1]) == .created)
            names.append(name.text)
        }
        #expect(try StoreContract.names(store, "tails/") == names.sorted())
        #expect(try StoreContract.names(store, "tails/3/") == names.filter { $0.hasPrefix("tails/3/") }.sorted())
    }

    @Test("keys, clock and bucket are named when they are wrong", arguments: RunningServer.all)
    func refusals(_ server: RunningServer) throws {
        let missing = try store(server, "no-such-bucket")
        expect(.noSuchBucket) { try missing.put(name, [1]) }
        expect(.noSuchBucket) { try missing.length(of: name) }
        expect(.noSuchBucket) { try missing.list("") { _ in } }
        expect(.noSuchBucket) { try missing.get(name) }
        guard server.checksSignatures else { return }
        let bucket = try server.makeBucket()
        expect(.wrongClock) { try store(server, bucket, secondsAhead: 3600).put(name, [1]) }
        expect(.wrongClock) { try store(server, bucket, secondsAhead: -3600).length(of: name) }
        expect(.wrongCredentials) { try store(server, bucket, ["AWS_SECRET_ACCESS_KEY": "no"]).put(name, [1]) }
        expect(.wrongCredentials) { try store(server, bucket, ["AWS_ACCESS_KEY_ID": "no"]).list("") { _ in } }
        #expect(try StoreContract.names(store(server, bucket), "") == [])
    }

    @Test("bytes that are not those that were signed are refused", arguments: RunningServer.all.filter(\.checksBytes))
    func changedOnItsWay(_ server: RunningServer) throws {
        let store = try store(server, try server.makeBucket())
        expect(.busy) { try store.put(name, from: ChangingSource()) }
        #expect(try store.length(of: name) == nil)
    }
}
