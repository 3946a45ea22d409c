// What can be wrong with a replica's store, its keys or the network, on the command line.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("Replicas with bad input", .blocking, .timeLimit(.minutes(60)))
struct ReplicaBadInputTests {
    /// In no message, log or process list.
    private static let secret = "SECRETsecretSECRET"

    /// A workplace with an archive and a key.
    private struct Place {
        let work: Workplace
        let recipient: String
        var key: String { work.path("desk.key").string }

        init() throws {
            work = try Workplace()
            recipient = try #require(try work.run("keys", "new", "-o", work.path("desk.key").string).lines.first)
            #expect(try work.run("capture", work.root.string).status == 0)
        }

        /// Makes a replica in the directory `disk`.
        ///
        /// - Returns: its address.
        func makeReplica() throws -> String {
            mkdir(work.path("disk").string, 0o700)
            let url = "file://" + work.path("disk").string
            #expect(try work.run("replica", "add", "disk", url, "--recipient", recipient).status == 0)
            #expect(try work.run("replica", "sync").status == 0)
            return url
        }

        /// Expects that a command fails with a sentence, its remedy and no secret.
        func refused(
            _ words: String, _ remedy: String, _ arguments: [String],
            _ environment: [String: String] = S3Server.keys, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let child = try work.start(arguments, environment: environment)
            let outcome = try child.finish()
            let text = outcome.errorText
            #expect(outcome.status == 1, "\(arguments): \(text)", sourceLocation: sourceLocation)
            #expect(text.contains(words), "\(arguments): \(text)", sourceLocation: sourceLocation)
            #expect(
                text.contains(" — ") && text.contains(remedy), "\(arguments): \(text)", sourceLocation: sourceLocation)
            #expect(!isTelling(outcome.text + text), "\(arguments): \(text)", sourceLocation: sourceLocation)
        }

        func isTelling(_ text: String) -> Bool {
            text.contains(ReplicaBadInputTests.secret) || text.contains("AGE-SECRET-KEY")
                || text.contains("Signature=") || text.contains("Credential=")
        }
    }

    /// What a store refuses for: the fault of the server, the words of the message and of the remedy.
    private static let refusals: [(fault: String, words: String, remedy: String)] = [
        ("gone", "does not exist", "create it"),
        ("denied", "not allowed", "the right to do it"),
        ("unknown", "does not accept the credentials", "correct the key"),
        ("expired", "does not accept the credentials", "session token"),
        ("skewed", "this machine's clock", "set this machine's clock"),
        ("moved", "another region", "AWS_REGION"),
        ("507", "the store is full", "raise the quota"),
        ("500", "the store is busy or has a fault", "try again later"),
    ]

    @Test("whatever is wrong when a replica is added, nothing is added and nothing is written")
    func adding() throws {
        let place = try Place()
        let server = try S3Server()
        func add(_ url: String) -> [String] { ["replica", "add", "cloud", url, "--recipient", place.recipient] }
        let url = "s3://bucket/desk?endpoint=\(server.endpoint)"
        for (fault, words, remedy) in ReplicaBadInputTests.refusals {
            try server.plan("always \(fault)")
            try place.refused(words, remedy, add(url))
        }
        // A server of something else, which accepts everything.
        try server.plan("always html")
        try place.refused("cannot hold a replica", "use another store", add(url))
        try server.plan()
        // The server itself refuses these.
        let wrong = S3Server.keys.merging(["AWS_SECRET_ACCESS_KEY": ReplicaBadInputTests.secret]) { $1 }
        try place.refused("does not accept the credentials", "correct the key", add(url), wrong)
        let expired = [
            "AWS_ACCESS_KEY_ID": "temporary", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_SESSION_TOKEN": ReplicaBadInputTests.secret,
        ]
        try place.refused("does not accept the credentials", "session token", add(url), expired)
        try place.refused("no credentials", "AWS_ACCESS_KEY_ID", add(url), [:])
        try place.refused("does not exist", "correct the address", add("s3://missing?endpoint=\(server.endpoint)"))
        try place.refused("not allowed", "the right to do it", add("s3://readonly?endpoint=\(server.endpoint)"))
        try place.refused("another region", "AWS_REGION", add("s3://elsewhere?endpoint=\(server.endpoint)"))
        try place.refused("the store is full", "raise the quota", add("s3://full?endpoint=\(server.endpoint)"))
        let nobody = "s3://bucket/desk?endpoint=http://127.0.0.1:1"
        try place.refused("no answer", "check the network", add(nobody))
        // A secret in an address is refused, and not repeated.
        let secret = ReplicaBadInputTests.secret
        for url in ["s3://key:\(secret)@bucket/desk", "sftp://ann:\(secret)@host/desk"] {
            let outcome = try place.work.run(add(url))
            #expect(outcome.status == 64 && outcome.errorText.contains("part of it"), "\(outcome.errorText)")
            #expect(!place.isTelling(outcome.errorText))
        }
        // Two bytes a second are a typing error.
        let slow = try place.work.run(add(url) + ["--limit-rate", "2"])
        #expect(slow.status == 64 && slow.errorText.contains("--limit-rate must be at least 1K"), "\(slow.errorText)")
        #expect(try place.work.run("replica", "list", "--json").text == "[]\n")
        #expect(try server.requests().allSatisfy { !$0.hasPrefix("PUT /bucket/desk/archiver") })
    }

    @Test(
        "whether a store can replace objects is said when a replica is added",
        arguments: [("bucket", false), ("ignoring", true), ("refusing", true)])
    func replacing(_ bucket: String, isReplacing: Bool) throws {
        let place = try Place()
        let server = try S3Server()
        let url = "s3://\(bucket)/desk?endpoint=\(server.endpoint)"
        let added = try place.work.start(
            ["replica", "add", "cloud", url, "--recipient", place.recipient], environment: S3Server.keys
        ).finish()
        #expect(added.status == 0, "\(added.errorText)")
        let text = added.text + added.errorText
        #expect(text.contains("only one machine may ever use this address") == isReplacing, "\(text)")
        let sync = try place.work.start(["replica", "sync"], environment: S3Server.keys).finish()
        #expect(sync.status == 0, "\(sync.errorText)")
        let check = ["replica", "check", "--data", "--identity", place.key]
        #expect(try place.work.start(check, environment: S3Server.keys).finish().status == 0)
    }

    @Test("a certificate that does not verify is refused with its remedy")
    func certificate() throws {
        let place = try Place()
        let (file, key) = (place.work.path("c.pem").string, place.work.path("k.pem").string)
        let made = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file,
        ])
        #expect(made.status == 0, "\(made.errorText)")
        let server = try S3Server(certificate: (file, key))
        try place.refused(
            "the connection is not secure", "certificates",
            ["replica", "add", "cloud", "s3://bucket/desk?endpoint=\(server.endpoint)", "--recipient", place.recipient])
    }

    @Test("whatever a store refuses later, captures go on, readers say it, and everything is sent afterwards")
    func later() throws {
        let place = try Place()
        let work = place.work
        let server = try S3Server()
        let url = "s3://bucket/desk?endpoint=\(server.endpoint)"
        func run(_ words: String...) throws -> ChildProcess.Outcome {
            try work.start(words, environment: S3Server.keys).finish()
        }
        #expect(try run("replica", "add", "cloud", url, "--recipient", place.recipient).status == 0)
        #expect(try run("replica", "sync").status == 0)
        _ = try server.requests()
        for (number, (fault, words, remedy)) in ReplicaBadInputTests.refusals.enumerated() {
            try work.write("notes/todo.txt", "\(fault)\n")
            try server.plan("always \(fault)")
            // The capture is made; that the replica lacks it is the failure.
            try place.refused(words, remedy, ["capture", work.root.string, "--replicas"])
            #expect(try work.listed().count == number + 2)
            if fault == "500" { continue }
            try place.refused(
                words, remedy, ["--archive", url, "--identity", place.key, "list", "--root", work.root.string])
            try place.refused(
                words, remedy, ["replica", "clone", url, work.path("none").string, "--identity", place.key])
            #expect(access(work.path("none").string, F_OK) != 0)
        }
        let status = try run("status", "--max-lag", "1s")
        #expect(status.status == 3 && status.text.contains("the replica 'cloud' lacks"), "\(status.text)")
        #expect(!place.isTelling(status.text))
        try server.plan()
        #expect(try run("replica", "sync").status == 0)
        let clone = work.path("clone").string
        #expect(try run("replica", "clone", url, clone, "--identity", place.key).status == 0)
        let listed = try run("--archive", clone, "list", "--json", "--root", work.root.string)
        #expect(try JSON.array(listed.output).count == ReplicaBadInputTests.refusals.count + 1)
        let cat = try run("--archive", clone, "cat", "latest~7:notes/todo.txt", "--root", work.root.string)
        #expect(cat.text == "gone\n", "\(cat.errorText)")
    }

    @Test("a watcher whose credentials are wrong captures, says it once with its remedy, and tells no secret")
    func watcher() throws {
        let place = try Place()
        let work = place.work
        let server = try S3Server()
        let url = "s3://bucket/desk?endpoint=\(server.endpoint)"
        let added = try work.start(
            ["replica", "add", "cloud", url, "--recipient", place.recipient], environment: S3Server.keys)
        #expect(try added.finish().status == 0)
        let wrong = S3Server.keys.merging(["AWS_SECRET_ACCESS_KEY": ReplicaBadInputTests.secret]) { $1 }
        let watcher = try work.start(["watch", work.root.string, "--json", "--verbose"], environment: wrong)
        try watcher.output { $0.contains("\"replica-behind\"") }
        let words = try String(contentsOfFile: "/proc/\(watcher.id)/cmdline", encoding: .utf8)
        #expect(!place.isTelling(words))
        try work.write("notes/todo.txt", "later\n")
        #expect(try work.run("sync", work.root.string).status == 0)
        watcher.send(SIGTERM)
        let outcome = try watcher.finish()
        #expect(outcome.text.components(separatedBy: "\"replica-behind\"").count == 2, "\(outcome.text)")
        #expect(outcome.text.contains("correct the key"), "\(outcome.text)")
        #expect(!place.isTelling(outcome.text + outcome.errorText))
        #expect(try work.listed().count == 2)
        // Nor is one in the archive.
        let found = try ChildProcess.run(
            "grep",
            ["-rlE", "\(ReplicaBadInputTests.secret)|AGE-SECRET-KEY", work.archive.string].map { Array($0.utf8) })
        #expect(found.text == "", "\(found.text)")
    }

    @Test("a replica of a newer version, and one that is replaced by another's, are refused and left alone")
    func foreign() throws {
        let place = try Place()
        let work = place.work
        let url = try place.makeReplica()
        let file = work.path("disk/archiver-replica.json").string
        let manifest = try String(contentsOfFile: file, encoding: .utf8)
        let read = ["--archive", url, "--identity", place.key, "list", "--all"]
        let clone = ["replica", "clone", url, work.path("none").string, "--identity", place.key]
        func replace(_ text: String, _ other: String) throws {
            #expect(manifest.contains(text))
            try manifest.replacing(text, with: other).write(toFile: file, atomically: true, encoding: .utf8)
        }
        func objects() throws -> [String] {
            try ChildProcess.run(
                "sh",
                ["-c", "cd \(work.path("disk")) && find . -type f | sort | xargs sha256sum"].map { Array($0.utf8) }
            )
            .lines
        }
        try work.write("notes/todo.txt", "later\n")
        #expect(try work.run("capture", work.root.string).status == 0)
        try replace("\"version\" : 1", "\"version\" : 2")
        let newer = try objects()
        for words in [["replica", "sync"], read, clone] {
            try place.refused("has version 2, newer", "use a newer archiver", words)
        }
        #expect(try objects() == newer)
        // The same archive, written by somebody with another key.
        let signer = try #require(manifest.firstMatch(of: /"signer" : "([0-9a-f]+)"/)?.1)
        try replace(String(signer), String(signer.reversed()))
        let other = try objects()
        try place.refused("signed with another key", "use another address", ["replica", "sync"])
        #expect(try objects() == other)
        // Something else.
        try "{\"format\": \"photos\"}".write(toFile: file, atomically: true, encoding: .utf8)
        let photos = try objects()
        for words in [["replica", "sync"], read, clone] {
            try place.refused("does not describe a replica", "use another address", words)
        }
        #expect(try objects() == photos)
        try manifest.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try work.run("replica", "sync").status == 0)
    }

    @Test("objects that may not be read are named, and a directory without a replica may be a missing disk")
    func directories() throws {
        let place = try Place()
        let work = place.work
        let url = try place.makeReplica()
        let read = ["--archive", url, "--identity", place.key, "list", "--all"]
        let test = ["replica", "test", "--identity", place.key]
        if getuid() != 0 {
            let tails = work.path("disk/tails").string
            chmod(tails, 0)
            for words in [read, test, ["replica", "check"]] {
                try place.refused("not allowed", "change its permissions", words)
            }
            chmod(tails, 0o700)
        }
        #expect(rename(work.path("disk").string, work.path("away").string) == 0)
        for words in [["replica", "sync"], read, test] { try place.refused("does not exist", "mount its disk", words) }
        mkdir(work.path("disk").string, 0o700)
        for words in [["replica", "sync"], read, test] {
            try place.refused("there is no replica in \(url)", "mount its disk", words)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.path("disk").string).isEmpty)
    }
}
