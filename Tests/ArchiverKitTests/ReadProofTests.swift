// When a file that a writer has closed need not be read again, if its times are unchanged.

import FileIO
import Roots
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit
@testable import Capturing

@Suite(.blocking) struct ReadProofTests {
    /// A file's status, and moments some seconds after its change time.
    private struct Changed {
        let status: FileStatus
        func later(_ seconds: Int64) -> Timestamp { status.changed.advanced(byNanoseconds: seconds * 1_000_000_000) }
    }

    private func changedFile(in sandbox: Sandbox) throws -> Changed {
        try sandbox.root.write("file", "x")
        let root = try RootDirectory.open(sandbox.root.directory)
        let status = try FileStatus.read(CName("file".utf8), in: root.directory.descriptor)
        return Changed(status: try #require(status))
    }

    struct Case: CustomTestStringConvertible {
        let name: String
        /// Seconds after the file's change at which a capture visits it, in order.
        let seconds: [Int64]
        let vouched: [Bool]

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "a file is read the first time", seconds: [1000], vouched: [false]),
        Case(
            name: "a file read long after its change need not be read again", seconds: [91, 92],
            vouched: [false, true]),
        Case(
            name: "a file read soon after its change must be read again", seconds: [0, 1, 89, 90],
            vouched: [false, false, false, false]),
        Case(
            name: "a file must be read again until it was read late", seconds: [30, 120, 121],
            vouched: [false, false, true]),
        Case(name: "a change dated in the future proves nothing", seconds: [-3600, -3600], vouched: [false, false]),
        Case(
            name: "setting the clock back does not invalidate a proof", seconds: [91, -3600], vouched: [false, true]),
    ]

    @Test("a read proves a file's content only long after its change", arguments: cases)
    func proofs(_ test: Case) throws {
        let file = try changedFile(in: try Sandbox())
        let proofs = ReadProofs()
        let path = try RelativePath.at("file")
        #expect(test.seconds.map { proofs.meets(path, file.status, at: file.later($0)) } == test.vouched)
    }

    @Test("another change needs another proof") func anotherChange() throws {
        let sandbox = try Sandbox()
        let proofs = ReadProofs()
        let path = try RelativePath.at("file")
        let before = try changedFile(in: sandbox)
        for isKnown in [false, true] {
            #expect(proofs.meets(path, before.status, at: before.later(91)) == isKnown)
        }
        try sandbox.root.setPermissions("file", 0o600)
        var after = try changedFile(in: sandbox)
        // File times come from a clock that ticks some hundred times a second.
        while after.status.changed == before.status.changed { after = try changedFile(in: sandbox) }
        for isKnown in [false, true] { #expect(proofs.meets(path, after.status, at: after.later(91)) == isKnown) }
    }

    @Test("a proof applies to one path") func onePath() throws {
        let file = try changedFile(in: try Sandbox())
        let proofs = ReadProofs()
        for name in ["file", "other"] as [FilePath] {
            #expect(!proofs.meets(try .at(name), file.status, at: file.later(91)))
        }
    }

    @Test("asking for a proof proves nothing: only reading the file does")
    func askingProvesNothing() throws {
        let file = try changedFile(in: try Sandbox())
        let proofs = ReadProofs()
        let path = try RelativePath.at("file")
        for _ in 0..<3 { #expect(!proofs.vouches(for: path, file.status)) }
        proofs.add(path, changed: file.status.changed, readAt: file.later(91))
        #expect(proofs.vouches(for: path, file.status))
    }

    /// A file whose proof is forgotten is only read once more.
    @Test("the number of proofs is bounded") func memory() throws {
        let file = try changedFile(in: try Sandbox())
        let proofs = ReadProofs()
        let paths = (0...ReadProofs.limit).map { RelativePath(unchecked: Array("\($0)".utf8)) }
        #expect(paths.allSatisfy { !proofs.meets($0, file.status, at: file.later(91)) })
        #expect(proofs.meets(paths[ReadProofs.limit], file.status, at: file.later(91)))
        #expect(!proofs.meets(paths[0], file.status, at: file.later(91)))
    }
}

extension ReadProofs {
    /// Visits a file as a capture does, which reads it unless there is a proof.
    ///
    /// - Returns: whether it need not be read.
    fileprivate func meets(_ path: RelativePath, _ status: FileStatus, at now: Timestamp) -> Bool {
        if vouches(for: path, status) { return true }
        add(path, changed: status.changed, readAt: now)
        return false
    }
}
