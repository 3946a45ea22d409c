// Replicas at servers of S3 by others.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(
    "Replicas at others' servers", .blocking, .serialized, .timeLimit(.minutes(60)),
    .enabled(if: !RunningServer.all.isEmpty, "S3_SERVERS names running servers"))
struct ReplicaServersTests {
    /// A workplace with an archive, a key and the address of an empty bucket.
    private struct Place {
        let work: Workplace
        let server: RunningServer
        let url: String
        let recipient: String
        var key: String { work.path("desk.key").string }

        init(_ server: RunningServer) throws {
            self.server = server
            work = try Workplace()
            url = "s3://\(try server.makeBucket())/desk?endpoint=\(server.endpoint)"
            recipient = try #require(try work.run("keys", "new", "-o", work.path("desk.key").string).lines.first)
            #expect(try work.run("capture", work.root.string).status == 0)
        }

        func run(_ words: [String]) throws -> ChildProcess.Outcome {
            try work.start(words, environment: server.keys).finish()
        }

        /// Runs a command that has to succeed.
        @discardableResult
        func done(_ words: String..., at place: SourceLocation = #_sourceLocation) throws -> ChildProcess.Outcome {
            let outcome = try run(words)
            #expect(outcome.status == 0, "\(words): \(outcome.text)\(outcome.errorText)", sourceLocation: place)
            return outcome
        }

        /// Reads the replica alone.
        func read(_ words: String..., at place: SourceLocation = #_sourceLocation) throws -> ChildProcess.Outcome {
            let outcome = try run(words + ["--archive", url, "--identity", key])
            #expect(outcome.status == 0, "\(words): \(outcome.text)\(outcome.errorText)", sourceLocation: place)
            return outcome
        }

        func add() throws -> ChildProcess.Outcome {
            try done("replica", "add", "cloud", url, "--recipient", recipient)
        }
    }

    @Test(
        "an archive goes to another's server, is read from there, and comes back; a server that replaces is told",
        arguments: RunningServer.all)
    func roundTrip(_ server: RunningServer) throws {
        let place = try Place(server)
        let work = place.work
        let added = try place.add()
        #expect(
            (added.text + added.errorText).contains("The store replaces objects") == (server.conditions != .obeyed),
            "\(added.text)\(added.errorText)")
        var random = SeededGenerator()
        for number in 0..<12 {
            try work.write("notes/todo.txt", "version \(number)\n")
            try work.write("random/\(number)", (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) })
            try place.done("capture", work.root.string, "--replicas")
        }
        #expect(try place.done("replica", "check", "--data", "--identity", place.key).text.contains("all is well"))
        try place.done("replica", "test", "cloud", "--identity", place.key)
        #expect(try place.done("status").text.contains("replica cloud: up to date"))

        #expect(try JSON.array(place.read("list", "--json", "--all").output).count == 13)
        let root = work.root.string
        #expect(try place.read("cat", "latest~3:notes/todo.txt", "--root", root).text == "version 8\n")
        let (target, clone) = (work.path("restored").string, work.path("clone").string)
        _ = try place.read("restore", "latest", "--root", root, "--target", target)
        #expect(try ChildProcess.run(["diff", "-r", root, target]).status == 0)
        let bucket = try #require(place.url.split(separator: "/desk?").first).description
        let fleet = try place.done("fleet", "\(bucket)?endpoint=\(server.endpoint)", "--max-lag", "1h", "--json")
        #expect(try JSON.array(fleet.output).count == 1)

        // What was forgotten goes from the store, too.
        try place.done("forget", "latest~11", "latest~9", "latest~8", "latest~5", "--root", root)
        try place.done("prune")
        try place.done("replica", "sync")
        try place.done("replica", "prune", "--grace", "0s")
        #expect(try place.done("replica", "check", "--data", "--identity", place.key).text.contains("all is well"))
        try place.done("replica", "clone", place.url, clone, "--identity", place.key)
        try place.done("--archive", clone, "check", "--data")
    }

    @Test(
        "while another's server is away captures go on, and everything is sent when it is back",
        arguments: RunningServer.all.filter(\.isDurable))
    func away(_ server: RunningServer) throws {
        let place = try Place(server)
        let work = place.work
        _ = try place.add()
        try place.done("replica", "sync")
        try server.kill()
        try work.write("notes/todo.txt", "while it is away\n")
        try place.done("capture", work.root.string)
        let failed = try place.run(["replica", "sync"])
        #expect(failed.status != 0 && failed.errorText.contains("no answer"), "\(failed.errorText)")
        try server.start()
        try place.done("replica", "sync")
        let read = try place.read("cat", "latest:notes/todo.txt", "--root", work.root.string)
        #expect(read.text == "while it is away\n")
    }
}
