// The program age reads what is written here, and the other way round.

import Age
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// Debian's package age.
private let hasAge = FileManager.default.isExecutableFile(atPath: "/usr/bin/age")

@Suite(.blocking, .enabled(if: hasAge, "the program age is installed")) struct AgeProgramTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    private func path(_ name: String) -> String { place.path.appending(name).string }

    private func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }

    private func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path(name)))) }

    @discardableResult
    private func run(_ words: String...) throws -> String {
        let outcome = try ChildProcess.run(words, directory: place.path)
        #expect(outcome.status == 0, "\(words): \(outcome.errorText)")
        return outcome.text
    }

    /// Runs a program on a terminal of its own, and types the passphrase whenever it asks.
    private func runTyping(_ passphrase: String, _ words: [String]) throws {
        let script = """
            import os, pty, sys
            process, terminal = pty.fork()
            if process == 0: os.execvp(sys.argv[2], sys.argv[2:])
            seen = b""
            while True:
                try: piece = os.read(terminal, 1000)
                except OSError: break
                if not piece: break
                seen += piece
                if seen.rstrip().endswith(b":") and b"assphrase" in seen:
                    os.write(terminal, sys.argv[1].encode() + b"\\n")
                    seen = b""
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            """
        let outcome = try ChildProcess.run(["python3", "-c", script, passphrase] + words, directory: place.path)
        #expect(outcome.status == 0, "\(outcome.text) \(outcome.errorText)")
    }

    @Test(
        "age decrypts files of any size with an identity that is made here", arguments: [0, 1, 65_536, 65_537, 200_000])
    func ageReads(_ size: Int) throws {
        let identity = AgeIdentity.generate()
        try write(Array(AgeIdentityFile.text(of: identity, created: "2026-11-26T05:00:00Z").utf8), "key.txt")
        #expect(try run("age-keygen", "-y", "key.txt") == "\(try #require(identity.recipient))\n")
        let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let stanza = try #require(
            AgeStanza(type: "example.org/unknown", arguments: ["a", "b"], body: plain.suffix(100)))
        let recipients = [AgeIdentity.generate(), identity].compactMap(\.recipient)
        try write(AgeWriter(for: recipients, further: { _ in [stanza] }).whole(plain), "file.age")
        let outcome = try ChildProcess.run(["age", "-d", "-i", "key.txt", "file.age"], directory: place.path)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.output == plain)
    }

    @Test("files, armored files and keys of age are read", arguments: [0, 1, 65_536, 65_537, 200_000])
    func readsAge(_ size: Int) throws {
        try run("age-keygen", "-o", "key.txt")
        let identities = try AgeIdentityFile.identities(in: read("key.txt"))
        let recipient = try #require(identities.first?.recipient).text
        let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        try write(plain, "plain")
        try run("age", "-r", recipient, "-o", "file.age", "plain")
        #expect(try AgeReader.decrypt(read("file.age"), identities) == plain)
        try run("age", "-a", "-r", recipient, "-o", "armored.age", "plain")
        #expect(AgeArmor.isArmored(try read("armored.age")))
        #expect(try AgeReader.decrypt(AgeArmor.decode(read("armored.age")), identities) == plain)
    }

    @Test("a key protected by a passphrase is read by age, and one of age here")
    func protectedKeys() throws {
        let identity = AgeIdentity.generate()
        let recipient = try #require(identity.recipient)
        let text = AgeIdentityFile.text(of: identity, created: "2026-11-26T05:00:00Z")
        try write(AgeIdentityFile.protect(text, AgePassphrase(Array("over the hill".utf8), workFactor: 10)), "ours.age")
        try write(AgeWriter(for: [recipient]).whole([1, 2, 3]), "file.age")
        try runTyping("over the hill", ["age", "-d", "-i", "ours.age", "-o", "plain", "file.age"])
        #expect(try read("plain") == [1, 2, 3])

        try write(Array(text.utf8), "key.txt")
        try runTyping("far away", ["age", "-p", "-o", "theirs.age", "key.txt"])
        let identities = try AgeIdentityFile.identities(in: read("theirs.age")) { Array("far away".utf8) }
        #expect(identities.map(\.recipient) == [recipient])
    }
}
