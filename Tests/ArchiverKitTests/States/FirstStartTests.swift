// Simultaneous first starts and changes of one title by several programs, and by several threads of one program.

import ArchiverKit
import Foundation
import Mementos
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite("One title, many programs", .blocking)
struct FirstStartTests {
    private let sandbox: Sandbox
    private var archive: Archive { sandbox.archive }

    init() throws { sandbox = try Sandbox() }

    /// Runs `examples` once with each of the argument lists, all at the same time.
    private func examples(_ arguments: [[String]]) async throws -> [String] {
        let variable = "ARCHIVER_ARCHIVE=\(archive.directory)"
        let programs = try arguments.map { try Program(["env", variable, BuiltProgram.path(of: "examples")] + $0) }
        var outputs: [String] = []
        for program in programs {
            let (status, output) = try await program.end()
            #expect(status == 0, "\(output)")
            outputs.append(output)
        }
        return outputs
    }

    @Test("if several programs start first at once, one saves its state and the others load it")
    func programs() async throws {
        for round in 1...4 {
            let sandbox = try Sandbox()
            let files = try (0..<8).map { number in
                let name = "scores-\(number).json"
                try sandbox.base.write(FilePath(name), #"{"groups": {"a": {"right": \#(number), "wrong": 0}}}"#)
                return sandbox.base.directory.appending(name).string
            }
            let variable = "ARCHIVER_ARCHIVE=\(sandbox.archive.directory)"
            let programs = try files.map {
                try Program(["env", variable, BuiltProgram.path(of: "examples"), "quiz", "--defaults", $0])
            }
            var outputs: Set<String> = []
            for program in programs {
                let (status, output) = try await program.end()
                #expect(status == 0, "round \(round): \(output)")
                outputs.insert(output)
            }
            #expect(outputs.count == 1, "round \(round): \(outputs)")
            #expect(try sandbox.archive.history(of: "quiz").count == 1)
        }
    }

    @Test(
        "programs that create the archive and the title at the same time lose no change and do not fail",
        .timeLimit(.minutes(60)))
    func archiveAndTitle() async throws {
        for round in 1...(isThorough ? 30 : 8) {
            let place = sandbox.base.directory.appending("round-\(round)")
            let count = round % 7 + 2
            let programs = try (0..<count).map { _ in
                let words = ["env", "ARCHIVER_ARCHIVE=\(place)", BuiltProgram.path(of: "examples"), "counter"]
                return try Program(words + ["--times", "2"])
            }
            for program in programs {
                let (status, output) = try await program.end()
                #expect(status == 0 && output.hasPrefix("counted to "), "round \(round): \(output)")
            }
            let archive = try Archive.open(place)
            let history = try archive.history(of: "counter")
            let states = try history.map { try archive.load(Int.self, as: "counter", at: SnapshotSelector($0.shortID)) }
            #expect(states == Array(1...2 * count), "round \(round), \(count) programs")
            #expect(try archive.check(data: true).findings == [], "round \(round)")
        }
    }

    @Test("if several threads start first at once, one saves its state and the others load it")
    func threads() throws {
        let archives = [archive, try sandbox.reopened(), try sandbox.reopened()]
        for round in 0..<40 {
            let found = Locked<[Int]>([])
            concurrently(6) { thread in
                do throws(StateError) {
                    let state = try archives[thread % 3].load(as: "round \(round)", startingFrom: thread)
                    found.withLock { $0.append(state) }
                } catch { Issue.record(error, "round \(round)") }
            }
            #expect(Set(found.withLock { $0 }).count == 1, "round \(round)")
            #expect(try archive.history(of: "round \(round)").count == 1, "round \(round)")
        }
    }

    @Test("a caretaker's first start does not replace the first state of another program")
    func caretakers() async throws {
        final class Number: Originator, Sendable {
            private let held: Locked<Int>
            init(_ number: Int) { held = Locked(number) }
            func captureState() -> Int { held.withLock { $0 } }
            func restore(_ state: Int) { held.withLock { $0 = state } }
        }
        let archives = [archive, try sandbox.reopened(), try sandbox.reopened()]
        for round in 0..<20 {
            let found = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        var caretaker = Caretaker(
                            of: Number(number), titled: "round \(round)", in: archives[number % 3])
                        try await caretaker.start()
                        return caretaker.originator.captureState()
                    }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(found.count == 1, "round \(round): \(found)")
            #expect(try archive.history(of: "round \(round)").count == 1, "round \(round)")
        }
    }

    @Test("loading a title during its first save throws noSuchState or returns the state")
    func loadingMeanwhile() throws {
        let other = try sandbox.reopened()
        let errors = Locked<[String]>([])
        for round in 0..<(isThorough ? 300 : 100) {
            concurrently(3) { thread in
                do throws(StateError) {
                    if thread == 0 {
                        try other.save(round, as: "round \(round)")
                    } else {
                        for _ in 0..<20 { _ = try archive.load(Int.self, as: "round \(round)") }
                    }
                } catch {
                    if case .noSuchState = error { return }
                    errors.withLock { $0.append("\(error)") }
                }
            }
        }
        let found = errors.withLock { $0 }
        #expect(found.isEmpty, "\(found.count) failed otherwise, such as: \(found.first ?? "")")
    }

    @Test("no change that several programs make to one state is lost", .timeLimit(.minutes(60)))
    func counting() async throws {
        _ = try await examples(Array(repeating: ["counter", "--times", "100"], count: 4))
        #expect(try await sandbox.reopened().load(Int.self, as: "counter") == 400)
        #expect(try archive.check(data: true).findings == [])
    }
}
