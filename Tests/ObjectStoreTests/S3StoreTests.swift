// S3 against a server that checks signatures and goes wrong on demand.

import FileIO
import Foundation
import ObjectStore
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite(.blocking) struct S3StoreTests {
    private let server: S3Server
    private let name: ObjectName

    init() throws {
        server = try S3Server()
        name = try #require(ObjectName("segments/a.age"))
    }

    @Test("a bucket is a store as any other")
    func contract() throws { try StoreContract.check(try server.store()) }

    @Test("a bucket that knows no conditions is a store as any other")
    func noConditions() throws {
        let store = try server.store("refusing")
        try StoreContract.check(store)
        #expect(!store.refusesToOverwrite)
    }

    @Test("a bucket that ignores conditions, and gives parts as if they were all, is a store that replaces objects")
    func ignoredConditions() throws {
        try StoreContract.check(try server.store("ignoring"), keepsObjects: false)
        let store = try server.store("ignoring")
        #expect(try store.put(name, [1]) == .created)
        #expect(try store.put(name, [2]) == .created)
    }

    @Test("names outside the prefix, and names that are none, are not listed")
    func foreignNames() throws {
        let outer = try server.store("bucket")
        _ = try outer.put(try #require(ObjectName("desk2/x")), [1])
        _ = try outer.put(try #require(ObjectName("desk/y")), [1])
        let store = try server.store("bucket/desk")
        #expect(try StoreContract.names(store, "") == ["y"])
    }

    @Test(
        "a request is repeated after faults that pass, and has its effect once",
        arguments: [
            ["500"], ["503", "503"], ["409"], ["drop"], ["drop", "500", "drop", "503"],
        ])
    func passingFaults(_ faults: [String]) throws {
        let store = try server.store()
        try server.plan(faults)
        #expect(try store.put(name, [1, 2, 3, 4]) == .created)
        try server.plan(faults)
        #expect(try store.get(name) == [1, 2, 3, 4])
        try server.plan(faults)
        #expect(try store.get(name, 1..<3) == [2, 3])
        try server.plan(faults)
        #expect(try store.length(of: name) == 4)
        try server.plan(faults)
        #expect(try StoreContract.names(store, "") == ["segments/a.age"])
        try server.plan(faults)
        try store.delete(name)
        #expect(try store.length(of: name) == nil)
    }

    @Test("what is sent is slowed down once, and not what is read for its digest")
    func pace() throws {
        let source = SlowSource([UInt8](repeating: 7, count: 3_000_000), pieceBytes: 1 << 20)
        #expect(try server.store().put(name, from: source) == .created)
        #expect(source.sent.withLock { $0 } == 3_000_000)
    }

    @Test("the MD5 of objects is sent to a store that has refused one without it, and to no other")
    func md5() throws {
        let (a, b) = (try #require(ObjectName("a")), try #require(ObjectName("b")))
        let usual = try server.store()
        #expect(try usual.put(a, [1, 2]) == .created)
        #expect(try usual.put(b, [1, 2]) == .created)
        #expect(try server.requests() == ["PUT /bucket/desk/a", "PUT /bucket/desk/b"])
        let locked = try server.store("locked")
        #expect(try locked.put(a, [1, 2]) == .created)
        #expect(try locked.put(b, [3]) == .created)
        #expect(
            try server.requests() == ["PUT /locked/a", "PUT /locked/a Content-MD5", "PUT /locked/b Content-MD5"])
        #expect(try locked.get(a) == [1, 2])
        #expect(try locked.get(b) == [3])
    }

    @Test("a request that is invalid for another reason is not sent again with an MD5")
    func otherRefusals() throws {
        let store = try server.store()
        try server.plan("invalid")
        let error = expect(.unexpectedAnswer) { try store.put(name, [1]) }
        #expect(error?.description.contains("InvalidRequest") == true)
        #expect(try server.requests() == ["PUT /bucket/desk/segments/a.age"])
        #expect(try store.put(name, [1]) == .created)
        #expect(try server.requests() == ["PUT /bucket/desk/segments/a.age"])
    }

    @Test("bytes that are not those that were signed are refused")
    func changedOnItsWay() throws {
        let store = try server.store()
        let error = expect(.busy) { try store.put(name, from: ChangingSource()) }
        #expect(error?.description.contains("XAmzContentSHA256Mismatch") == true)
        #expect(try store.length(of: name) == nil)
    }

    @Test("an object whose answer was lost is there, and is not written again")
    func lostAnswers() throws {
        let store = try server.store()
        try server.plan("lost")
        #expect(try store.put(name, [1, 2, 3, 4]) == .exists)
        #expect(try store.get(name) == [1, 2, 3, 4])
        // A large one is looked for before it is sent again.
        let large = try #require(ObjectName("large"))
        _ = try server.requests()
        try server.plan("lost")
        // libcurl itself repeats a request on a connection that it has used before.
        #expect(try server.store().put(large, [UInt8](repeating: 7, count: 2 << 20)) == .exists)
        #expect(try server.requests() == ["PUT /bucket/desk/large", "HEAD /bucket/desk/large"])
        try server.plan("lost")
        try store.delete(name)
        #expect(try store.length(of: name) == nil)
    }

    @Test("an object that the store says to exist is looked for, and written if it does not")
    func refusedAndMissing() throws {
        let store = try server.store()
        try server.plan("412")
        #expect(try store.put(name, [1]) == .created)
        #expect(try store.put(name, [2]) == .exists)
        #expect(try store.get(name) == [1])
    }

    @Test("an answer that is cut off is asked for again")
    func cutAnswers() throws {
        let store = try server.store()
        #expect(try store.put(name, [1, 2, 3, 4]) == .created)
        try server.plan("cut")
        #expect(try store.get(name) == [1, 2, 3, 4])
        try server.plan("cut")
        #expect(try StoreContract.names(store, "") == ["segments/a.age"])
    }

    @Test("a store that fails for ever is given up after a bounded number of tries")
    func lastingFaults() throws {
        let store = try server.store()
        try server.plan(Array(repeating: "500", count: 9))
        let error = expect(.busy) { try store.put(name, [1]) }
        #expect(error?.isTemporary == true)
        #expect(error?.description.contains("InternalError: words of the store") == true)
        #expect(try server.requests().count == 5)
    }

    @Test("each refusal is named, without a secret")
    func refusals() throws {
        func error(_ expected: ObjectStoreError.Code, _ bucket: String, _ environment: [String: String] = S3Server.keys)
        {
            for call in 0..<4 {
                let error = expect(expected) {
                    let store = try server.store(bucket, environment: environment)
                    switch call {
                    case 0: _ = try store.put(name, [1])
                    case 1 where expected == .notAllowed || expected == .full: _ = try store.put(name, [1])
                    case 1: _ = try store.get(name)
                    case 2 where expected == .notAllowed || expected == .full: _ = try store.put(name, [1])
                    case 2: _ = try store.length(of: name)
                    case 3 where expected == .notAllowed || expected == .full: _ = try store.put(name, [1])
                    default: try store.list("") { _ in }
                    }
                }
                #expect(error?.remedy != nil)
                #expect(error?.description.contains("SECRET") == false)
                #expect(error?.description.utf8.allSatisfy { $0 >= 0x20 } == true)
            }
        }
        error(.noSuchBucket, "missing")
        error(.notAllowed, "readonly")
        error(.full, "full")
        error(.wrongRegion, "elsewhere")
        error(.wrongCredentials, "bucket", ["AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "SECRET"])
        error(.wrongCredentials, "bucket", ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "SECRET"])
        error(
            .wrongCredentials, "bucket",
            ["AWS_ACCESS_KEY_ID": "temporary", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "SECRET"])
        error(.noCredentials, "bucket", [:])
        error(.noCredentials, "bucket", ["AWS_PROFILE": "unknown"])
        let elsewhere = try server.store(
            "elsewhere", environment: S3Server.keys.merging(["AWS_REGION": "eu-west-9"]) { $1 })
        #expect(try elsewhere.put(name, [1]) == .created)
        let token = ["AWS_ACCESS_KEY_ID": "temporary", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"]
        #expect(try server.store("bucket", environment: token).length(of: name) == nil)
    }

    @Test("credentials that were renewed in the file are read again")
    func renewedCredentials() throws {
        let place = try TemporaryDirectory()
        let environment = ["AWS_SHARED_CREDENTIALS_FILE": place.path.appending("credentials").string]
        try place.write("credentials", "[default]\naws_access_key_id = key\naws_secret_access_key = old\n")
        let store = try server.store(environment: environment)
        expect(.wrongCredentials) { try store.put(name, [1]) }
        try place.write("credentials", "[default]\naws_access_key_id = key\naws_secret_access_key = secret\n")
        #expect(try store.put(name, [1]) == .created)
    }

    @Test("a server that is no store, or none at all, is named as such")
    func others() throws {
        let store = try server.store()
        try server.plan("html")
        expect(.unexpectedAnswer) { try store.list("") { _ in } }
        let nobody = try ObjectStores.open(
            StoreAddress("s3://bucket?endpoint=http://127.0.0.1:1"), environment: S3Server.keys)
        expect(.unreachable) { try nobody.put(name, [1]) }
    }

    @Test("a store that is closed ends a call that waits to try again")
    func closing() throws {
        let store = try server.store()
        try server.plan(Array(repeating: "500", count: 9))
        let source = ClosingSource(store)
        expect(.cancelled) { try store.put(name, from: source) }
    }

    @Test("a certificate must be trusted")
    func certificates() throws {
        let place = try TemporaryDirectory()
        let (file, key) = (place.path.appending("c.pem").string, place.path.appending("k.pem").string)
        let made = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file,
        ])
        #expect(made.status == 0, "\(made.errorText)")
        let server = try S3Server(certificate: (file, key))
        expect(.tlsFailed) { try server.store().put(name, [1]) }
        let trusting = S3Server.keys.merging(["AWS_CA_BUNDLE": file]) { $1 }
        #expect(try server.store(environment: trusting).put(name, [1]) == .created)
    }
}

extension S3Server {
    fileprivate func store(
        _ bucket: String = "bucket/desk", environment: [String: String] = keys
    ) throws -> any ObjectStore {
        try ObjectStores.open(
            StoreAddress("s3://\(bucket)?endpoint=\(endpoint)"),
            environment: ["HOME": home].merging(environment) { $1 })
    }
}

/// A source that closes its store when it is read for the third time: that is when it is sent again.
private final class ClosingSource: ObjectSource, @unchecked Sendable {
    private let store: any ObjectStore
    /// Only one thread reads the source.
    private var reads = 0

    init(_ store: any ObjectStore) { self.store = store }

    var length: UInt64 { 1 }

    func read(_ range: Range<UInt64>) -> [UInt8] {
        reads += 1
        if reads == 3 { store.close() }
        return [1]
    }
}
