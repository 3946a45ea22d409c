// The documented exit codes.

import ArchiverKit
import TestTraits
import Testing

@testable import ArchiverCommands

@Suite(.blocking)
struct ExitStatusTests {
    /// Swift Testing also has an `ExitStatus`.
    private typealias Status = ArchiverCommands.ExitStatus

    @Test("exit codes match the documentation")
    func codes() {
        let promised: [Status: Int32] = [
            .done: 0, .failed: 1, .damaged: 2, .incomplete: 3, .noArchive: 10, .locked: 11, .usage: 64,
            .wrongIdentity: 12, .interrupted: 130,
        ]
        for status in Status.allCases { #expect(promised[status] == status.rawValue) }
        #expect(promised.count == Status.allCases.count)
    }

    @Test(
        "each kind of error has its exit code",
        arguments: [
            (.damaged, 2), (.noArchive, 10), (.notAnArchive, 10), (.locked, 11), (.inUse, 11),
            (.malformedSelector, 64), (.noSuchSnapshot, 1), (.ambiguousSelector, 1), (.noSpace, 1), (.permission, 1),
            (.newerFormat, 1), (.targetNotEmpty, 1), (.wrongIdentity, 12), (.replica, 1), (.noSuchReplica, 1),
        ] as [(ArchiverError.Code, Int32)])
    func errors(code: ArchiverError.Code, status: Int32) {
        #expect(Status(code).rawValue == status)
    }

    @Test("a failure is reported as one line with its remedy, whatever name it contains")
    func line() {
        let failure = Failure(status: .failed, code: "x", message: "no such directory: a\nb", remedy: "look again")
        #expect(FailureReport(failure).lines == ["archiver: no such directory: a\\x0ab — look again"])
    }
}
