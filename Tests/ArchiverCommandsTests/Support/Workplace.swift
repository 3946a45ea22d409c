// A directory to watch, an archive to remember it, and the program that does it.

import FileIO
import Foundation
import Glibc
import SystemPackage
import Testing

/// One test's tree and archive, with the built program.
final class Workplace {
    private let place: TemporaryDirectory
    /// The directory that is captured.
    var root: FilePath { place("tree") }
    var archive: FilePath { place("archive") }

    init() throws {
        place = try TemporaryDirectory()
        try write("notes/todo.txt", "one\ntwo\n")
        try write("empty", "")
        try write("data.bin", (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) })
    }

    /// The program beside the test bundle.
    static let program: FilePath = {
        let own = realpath("/proc/self/exe", nil)
        defer { free(own) }
        return own.map { FilePath(platformString: $0).removingLastComponent().appending("archiver") } ?? "archiver"
    }()

    func path(_ name: String) -> FilePath { place.path.pushing(FilePath(name)) }

    func write(_ name: String, _ bytes: [UInt8]) throws { try place.write("tree/" + name, bytes) }
    func write(_ name: String, _ text: String) throws { try place.write("tree/" + name, text) }
    func read(_ name: String) throws -> [UInt8] { try place.read(name) }

    private var environment: [String: String] {
        ["ARCHIVER_ARCHIVE": archive.string, "HOME": place.path.string]
    }

    /// Runs `archiver` with `arguments` to its end, outside of the tree.
    @discardableResult
    func run(_ arguments: String..., input: FilePath = "/dev/null") throws -> ChildProcess.Outcome {
        try run(arguments.map { Array($0.utf8) }, in: place.path)
    }

    @discardableResult
    func run(_ arguments: [[UInt8]], in directory: FilePath) throws -> ChildProcess.Outcome {
        try ChildProcess.run(Workplace.program, arguments, environment: environment, directory: directory)
    }

    /// Starts `archiver` with `arguments`.
    func start(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            Workplace.program, arguments.map { Array($0.utf8) }, environment: environment, directory: place.path)
    }

    /// Captures the tree and gives the new snapshot's id.
    func capture() throws -> String {
        let outcome = try run("capture", root.string, "--json")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let results = try JSON.array(outcome.output)
        let snapshot = try #require(results.first?["snapshot"] as? [String: Any])
        return try #require(snapshot["id"] as? String)
    }

    /// A copy of the tree with everything in it.
    func copyTree(to name: String) throws {
        let outcome = try ChildProcess.run("cp", ["-a", root.string, path(name).string].map { Array($0.utf8) })
        #expect(outcome.status == 0, "\(outcome.errorText)")
    }

    /// What `diff -r` says of the tree and `name`; empty where they are the same.
    func difference(of tree: FilePath, and name: String) throws -> String {
        try ChildProcess.run(
            "diff", ["-r", "--no-dereference", tree.string, path(name).string].map { Array($0.utf8) }
        ).text
    }
}

/// JSON as the tests look at it.
enum JSON {
    static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    static func object(_ line: String) throws -> [String: Any] { try object(Array(line.utf8)) }

    static func array(_ bytes: [UInt8]) throws -> [[String: Any]] {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]])
    }
}
