// Several processes start at the same time: one creates the archive, the others open it.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.serialized, .blocking)
struct ManyProcessesTests {
    private static let processes = 8

    @Test("eight concurrent captures create one archive with all their snapshots")
    func creation() throws {
        let work = try Workplace()
        for number in 0..<ManyProcessesTests.processes {
            try FileManager.default.createDirectory(
                atPath: work.path("roots/\(number)").string, withIntermediateDirectories: true)
            try "\(number)".write(
                toFile: work.path("roots/\(number)/file").string, atomically: false, encoding: .utf8)
        }
        for round in 0..<(isThorough ? 25 : 6) {
            let archive = work.path("archive-\(round)").string
            let running = try (0..<ManyProcessesTests.processes).map { number in
                try work.start("capture", work.path("roots/\(number)").string, "--archive", archive, "-q")
            }
            for process in running {
                let outcome = try process.finish()
                #expect(outcome.status == 0, "round \(round): \(outcome.errorText)")
            }
            let listed = try JSON.array(work.run("list", "--all", "--json", "--archive", archive).output)
            #expect(listed.count == ManyProcessesTests.processes, "round \(round)")
            // Several processes also rebuild the catalogue at the same time.
            for suffix in ["", "-wal", "-shm"] { unlink(archive + "/catalogue.sqlite" + suffix) }
            let readers = try (0..<4).map { _ in try work.start("list", "--all", "--json", "--archive", archive) }
            for reader in readers {
                #expect(try JSON.array(reader.finish().output).count == ManyProcessesTests.processes, "round \(round)")
            }
            let check = try work.run("check", "--data", "--archive", archive)
            #expect(check.status == 0, "round \(round): \(check.text)\(check.errorText)")
        }
    }

    @Test("concurrent first captures of one root make one snapshot")
    func oneRoot() throws {
        let work = try Workplace()
        for round in 0..<5 {
            let archive = work.path("archive-\(round)").string
            let running = try (0..<4).map { _ in try work.start("capture", work.root.string, "--archive", archive) }
            for process in running { #expect(try process.finish().status == 0) }
            #expect(try JSON.array(work.run("list", "--json", "--archive", archive).output).count == 1)
        }
    }
}
