// SFTP against OpenSSH's server, started directly: its stdin and stdout are all that ssh would pass on.

import FileIO
import Foundation
import ObjectStore
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// Debian's package openssh-sftp-server.
private let server = "/usr/lib/openssh/sftp-server"
private let hasServer = FileManager.default.isExecutableFile(atPath: server)

@Suite(.blocking, .enabled(if: hasServer, "OpenSSH's sftp-server is installed")) struct SFTPStoreTests {
    private let place: TemporaryDirectory
    private let name: ObjectName

    init() throws {
        place = try TemporaryDirectory()
        name = try #require(ObjectName("segments/a.age"))
    }

    private func store(_ command: [String] = [server], _ path: String? = nil) -> SFTPStore {
        SFTPStore(command: command, path: path ?? place.path.string, address: "sftp://test/path")
    }

    /// The files in a directory, hidden ones too.
    private func files(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.path.appending(directory).string).sorted()
    }

    @Test("a directory behind SFTP is a store as any other")
    func contract() throws { try StoreContract.check(store()) }

    @Test("a directory behind a server without extensions and with short answers is a store as any other")
    func plainServer() throws {
        // -P forbids the requests that go beyond the draft.
        try StoreContract.check(store([server, "-P", "fsync,hardlink,statvfs"]))
    }

    @Test("an object leaves no temporary file")
    func temporaryFiles() throws {
        let store = store()
        #expect(try store.put(name, [1]) == .created)
        #expect(try store.put(name, [2]) == .exists)
        #expect(try files("segments") == ["a.age"])
        struct Unreadable: ObjectSource {
            struct Failure: Error {}
            let length: UInt64 = 3 << 20
            func read(_ range: Range<UInt64>) throws -> [UInt8] {
                if range.lowerBound > 0 { throw Failure() }
                return [UInt8](repeating: 0, count: range.count)
            }
        }
        let other = try #require(ObjectName("segments/b.age"))
        expect(.failed) { try store.put(other, from: Unreadable()) }
        #expect(try files("segments") == ["a.age"])
        // The session goes on.
        #expect(try store.get(name) == [1])
    }

    @Test("many calls at the same time share four sessions")
    func sessions() throws {
        #expect(try store().put(name, [1, 2, 3]) == .created)
        let begun = place.path.appending("begun")
        let store = store(["sh", "-c", "echo >> '\(begun)'; exec \(server)"])
        let meeting = Meeting(of: 24)
        try DetachedThread.forEach(Array(0..<48), upTo: 24, for: "a test") { [name] _ in
            meeting.attend()
            let bytes = try store.get(name)
            #expect(bytes == [1, 2, 3])
        }
        #expect(meeting.isComplete)
        let count = try Data(contentsOf: URL(filePath: begun.string)).count
        #expect(count <= 4)
    }

    @Test("a missing directory is no empty store")
    func missing() throws {
        let store = store([server], place.path.appending("missing").string)
        expect(.noSuchBucket) { try store.put(name, [1]) }
        expect(.noSuchBucket) { try store.get(name) }
        expect(.noSuchBucket) { try store.length(of: name) }
        expect(.noSuchBucket) { try store.list("") { _ in } }
        expect(.noSuchBucket) { try store.delete(name) }
    }

    @Test("a server that only reads refuses writes")
    func readOnly() throws {
        #expect(try store().put(name, [1]) == .created)
        let reading = store([server, "-R"])
        #expect(try reading.get(name) == [1])
        expect(.notAllowed) { try reading.put(try #require(ObjectName("segments/b.age")), [1]) }
        expect(.notAllowed) { try reading.delete(name) }
        #expect(try store().get(name) == [1])
    }

    @Test("a connection that breaks is made again")
    func broken() throws {
        // The first server ends after its first messages, the next ones do not.
        let mark = place.path.appending("mark").string
        let script =
            "if mkdir '\(mark)' 2>/dev/null; then dd bs=1 count=20 2>/dev/null | \(server); else exec \(server); fi"
        let store = store(["sh", "-c", script])
        #expect(try store.put(name, [1, 2]) == .created)
        #expect(try store.get(name) == [1, 2])
    }

    @Test("a failed login, an unknown host and a program that is no server are named")
    func refusals() throws {
        let words: [(String, ObjectStoreError.Code)] = [
            ("me@host: Permission denied (publickey).", .wrongCredentials),
            ("Host key verification failed.", .tlsFailed),
            ("ssh: Could not resolve hostname host: Name or service not known", .unreachable),
        ]
        for (text, code) in words {
            let error = expect(code) { try store(["sh", "-c", "echo '\(text)' >&2; exit 255"]).get(name) }
            #expect(error?.detail == text)
        }
        expect(.unexpectedAnswer) { try store(["echo", "Welcome to this machine!"]).get(name) }
        expect(.notSupported) { try store(["/missing/ssh"]).get(name) }
    }

    @Test("a store that is closed ends a call that waits for the server")
    func closing() throws {
        let fifo = place.path.appending("fifo")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        let store = store(["sh", "-c", "echo >'\(fifo)'; exec sleep 1000"])
        // The server has begun when the pipe has a line; then the store waits for its answer.
        try DetachedThread.start(for: "the test") {
            _ = try? Descriptor.open(fifo, O_RDONLY).readToEnd(limit: 10, path: fifo)
            store.close()
        }
        expect(.cancelled) { try store.get(name) }
    }
}
