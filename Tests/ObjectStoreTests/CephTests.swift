// S3 against a real Ceph, which `make test-ceph` starts: Tests/ObjectServers/ceph.sh.

import Dispatch
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import ObjectStore

/// The directory of the running cluster.
private let cluster = ProcessInfo.processInfo.environment["CEPH_CLUSTER"]

@Suite(.blocking, .serialized, .enabled(if: cluster != nil, "CEPH_CLUSTER names a running Ceph")) struct CephTests {
    private let bucket = "test-\(UInt64.random(in: 0 ... .max))"
    private let name: ObjectName

    init() throws {
        name = try #require(ObjectName("segments/a.age"))
        try ceph("bucket", bucket)
    }

    @discardableResult
    private func ceph(_ words: String...) throws -> String {
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent()
            .appending("ObjectServers/ceph.sh")
        let outcome = try ChildProcess.run([script.string, try #require(cluster)] + words)
        #expect(outcome.status == 0, "\(words): \(outcome.text)\(outcome.errorText)")
        return outcome.text
    }

    private static let keys = [
        "HOME": "/nonexistent", "AWS_ACCESS_KEY_ID": "testaccesskey",
        "AWS_SECRET_ACCESS_KEY": "testsecretkey0123456789",
    ]

    private func store(
        _ bucket: String? = nil, gateway: Int = 0, _ environment: [String: String] = keys, secondsAhead: Int64 = 0
    ) throws -> S3Store {
        try S3Store(
            bucket: bucket ?? self.bucket, prefix: "desk/", endpoint: "http://127.0.0.1:\(7480 + gateway)", region: nil,
            profile: nil, environment: environment, clock: { Int64(time(nil)) + secondsAhead })
    }

    @Test("a bucket of Ceph is a store as any other")
    func contract() throws { try StoreContract.check(store()) }

    @Test("an object that is created by two gateways at once is there afterwards, whole")
    func twoGateways() throws {
        for number in 0..<10 {
            let name = try #require(ObjectName("race/\(number)"))
            let results = Results()
            try DetachedThread.start(for: "the test") { [store = try store(gateway: 1)] in
                results.add(try? store.put(name, [1]))
            }
            results.add(try? store().put(name, [2]))
            let outcomes = results.wait(for: 2)
            #expect(outcomes.allSatisfy { $0 != nil })
            #expect(outcomes.contains(.created))
            #expect(try store().get(name, 0..<9).count == 1)
        }
    }

    @Test("keys, clock, bucket and quota are named when they are wrong")
    func refusals() throws {
        expect(.noSuchBucket) { try store("no-such-bucket").put(name, [1]) }
        expect(.noSuchBucket) { try store("no-such-bucket").length(of: name) }
        expect(.noSuchBucket) { try store("no-such-bucket").list("") { _ in } }
        expect(.noSuchBucket) { try store("no-such-bucket").get(name) }
        expect(.wrongClock) { try store(secondsAhead: 3600).put(name, [1]) }
        expect(.wrongClock) { try store(secondsAhead: -3600).length(of: name) }
        let wrong = CephTests.keys.merging(["AWS_SECRET_ACCESS_KEY": "no"]) { $1 }
        expect(.wrongCredentials) { try store(nil, wrong).put(name, [1]) }
        let unknown = CephTests.keys.merging(["AWS_ACCESS_KEY_ID": "no"]) { $1 }
        expect(.wrongCredentials) { try store(nil, unknown).list("") { _ in } }

        try ceph("admin", "quota", "set", "--quota-scope=bucket", "--uid=test", "--max-objects=1")
        try ceph("admin", "quota", "enable", "--quota-scope=bucket", "--uid=test")
        // The gateways know a new quota after they have started again.
        try ceph("stop", "rgw.0")
        try ceph("start", "rgw.0")
        #expect(try store().put(name, [1]) == .created)
        expect(.full) { try store().put(try #require(ObjectName("b")), [1]) }
        #expect(try store().get(name) == [1])
        try ceph("admin", "quota", "disable", "--quota-scope=bucket", "--uid=test")
        try ceph("stop", "rgw.0")
        try ceph("start", "rgw.0")
    }

    @Test("a key that may only read and write cannot delete")
    func writeOnly() throws {
        try ceph("admin", "user", "modify", "--uid=test", "--op-mask=read,write")
        try ceph("stop", "rgw.0")
        try ceph("start", "rgw.0")
        #expect(try store().put(name, [1]) == .created)
        expect(.notAllowed) { try store().delete(name) }
        #expect(try store().get(name) == [1])
        try ceph("admin", "user", "modify", "--uid=test", "--op-mask=read,write,delete")
        try ceph("stop", "rgw.0")
        try ceph("start", "rgw.0")
        try store().delete(name)
    }

    @Test("the article's policy lets a user read, list and write in a prefix, and neither delete nor write elsewhere")
    func articlePolicy() throws {
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/Replicas.md")
        let user = "desk\(UInt32.random(in: 0 ... .max))"
        let start = try #require(article.range(of: "radosgw-admin user create"))
        let found = try #require(article[start.upperBound...].firstMatch(of: /\n    \{\n[\s\S]*?\n    \}\n/))
        let block = String(found.0)
        #expect(block.contains("user/desk") && block.contains(":::backups/desk/*"))
        let place = try TemporaryDirectory()
        let policy = block.replacing("backups", with: bucket).replacing("user/desk", with: "user/\(user)")
        try place.write("policy.json", policy.replacing("user/admin", with: "user/test"))
        try ceph("user", user)
        try ceph("policy", bucket, place.path.appending("policy.json").string)
        let keys = [
            "HOME": "/nonexistent", "AWS_ACCESS_KEY_ID": user + "access",
            "AWS_SECRET_ACCESS_KEY": user + "secret0123456789",
        ]
        func machine(_ prefix: String) throws -> S3Store {
            try S3Store(
                bucket: bucket, prefix: prefix, endpoint: "http://127.0.0.1:7480", region: nil, profile: nil,
                environment: keys, clock: { Int64(time(nil)) })
        }
        let desk = try machine("desk/")
        #expect(try desk.put(name, [1, 2, 3]) == .created)
        #expect(try desk.put(name, [4]) == .exists)
        #expect(try desk.get(name, 1..<3) == [2, 3])
        #expect(try desk.length(of: name) == 3)
        #expect(try StoreContract.names(desk, "") == [name.text])
        expect(.notAllowed) { try desk.delete(name) }
        expect(.notAllowed) { try machine("rack/").put(name, [1]) }
        expect(.notAllowed) { try machine("").put(name, [1]) }
        // The bucket's owner.
        #expect(try store().get(name) == [1, 2, 3])
        try store().delete(name)
        #expect(try desk.length(of: name) == nil)
    }

    @Test("bytes that are not those that were signed are refused")
    func changedOnItsWay() throws {
        let error = expect(.busy) { try store().put(name, from: ChangingSource()) }
        #expect(error?.description.contains("XAmzContentSHA256Mismatch") == true)
        #expect(try store().length(of: name) == nil)
    }

    // Ceph 16 ignores conditions in a bucket with versions. Nothing is lost: the older version stays.
    @Test("a bucket with object lock is written and read, and does not refuse to replace")
    func objectLock() throws {
        try ceph("bucket", bucket + "-lock", "lock")
        let store = try store(bucket + "-lock")
        #expect(try store.put(name, [1, 2]) == .created)
        #expect(try store.get(name) == [1, 2])
        #expect(try store.put(name, [3]) == .created)
        #expect(try StoreContract.names(store, "") == ["segments/a.age"])
        try store.delete(name)
        #expect(try store.length(of: name) == nil)
    }

    @Test("a gateway that is killed in the middle of a write loses and replaces nothing")
    func killedGateway() throws {
        let large = [UInt8](repeating: 5, count: 8 << 20)
        let source = KillingSource(large) { _ = try? ceph("stop", "rgw.0") }
        expect(.unreachable) { try store().put(name, from: source) }
        try ceph("start", "rgw.0")
        #expect(try store().length(of: name) == nil)
        #expect(try store().put(name, large) == .created)
        #expect(try store().put(name, [1]) == .exists)
        #expect(try store().get(name) == large)
    }

    @Test("writes wait while two of three disks are stopped, and go on")
    func stoppedDisks() throws {
        guard try ceph("admin", "bucket", "list").isEmpty == false,
            try String(contentsOfFile: try #require(cluster) + "/osds", encoding: .utf8).hasPrefix("3")
        else { return }
        #expect(try store().put(name, [1, 2]) == .created)
        try ceph("stop", "osd.1")
        #expect(try store().put(try #require(ObjectName("b")), [3]) == .created)
        try ceph("stop", "osd.2")
        let results = Results()
        let other = try #require(ObjectName("c"))
        try DetachedThread.start(for: "the test") { [store = try store()] in
            results.add(try? store.put(other, [4]))
        }
        try ceph("start", "osd.1", "osd.2")
        #expect(results.wait(for: 1).first != nil)
        #expect(try store().get(other) == [4])
        #expect(try store().get(name) == [1, 2])
    }
}

/// Outcomes of other threads.
private final class Results: Sendable {
    private let outcomes = Locked<[PutOutcome?]>([])
    private let hasNew = DispatchSemaphore(value: 0)

    func add(_ outcome: PutOutcome?) {
        outcomes.withLock { $0.append(outcome) }
        hasNew.signal()
    }

    func wait(for count: Int) -> [PutOutcome?] {
        for _ in 0..<count { hasNew.wait() }
        return outcomes.withLock { $0 }
    }
}

/// A source that calls a function in the middle of the first time that it is sent.
private final class KillingSource: ObjectSource, @unchecked Sendable {
    private let bytes: [UInt8]
    private let body: () -> Void
    /// Only the thread of the call reads the source.
    private var reads = 0

    init(_ bytes: [UInt8], _ body: @escaping () -> Void) { (self.bytes, self.body) = (bytes, body) }

    var length: UInt64 { UInt64(bytes.count) }

    func read(_ range: Range<UInt64>) -> [UInt8] {
        reads += 1
        // It is read once for its hash.
        if reads == bytes.count >> 20 + 4 { body() }
        return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}
