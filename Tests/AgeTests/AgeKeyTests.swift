// Recipients, identities, and files of them.

import Age
import TestTraits
import Testing

@Suite(.blocking) struct AgeKeyTests {
    // From the format's specification.
    private let secret = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    private let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

    private func error(_ body: () throws -> Void) -> AgeError? {
        do {
            try body()
            return nil
        } catch { return error as? AgeError }
    }

    @Test("an identity and its recipient are read and written as the specification has them")
    func specified() throws {
        let identity = try AgeIdentity(secret)
        #expect(identity.secretText == secret)
        #expect(identity.recipient?.text == recipient)
        #expect(try AgeRecipient(recipient).text == recipient)
        #expect("\(identity)" == "the identity of \(recipient)")
        let made = AgeIdentity.generate()
        let text = try #require(made.secretText)
        #expect(try AgeIdentity(text).recipient == made.recipient)
    }

    @Test("a text that is no recipient is refused with the reason")
    func badRecipients() {
        let texts = [
            (secret, "is secret"), ("ssh-ed25519 AAAA", "ssh key"), ("", "begins with"), ("AGE1ZVKYG", "begins with"),
            ("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwk", "checksum"),
            ("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujw", "checksum"),
            ("age1Zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj", "checksum"),
            ("age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t", "'age1yubikey'"),
        ]
        for (text, reason) in texts {
            let error = error { _ = try AgeRecipient(text) }
            #expect(error?.code == .malformedRecipient)
            #expect(error?.detail.contains(reason) == true, "\(text): \(error?.detail ?? "accepted")")
            #expect(error?.detail.contains("GFPYYSJZ") == false)
        }
    }

    @Test("a text that is no identity is refused without a part of it in the message")
    func badIdentities() {
        var misspelt = secret
        misspelt.removeLast()
        for text in [recipient, misspelt, misspelt + "Y", secret.lowercased(), "AGE-PLUGIN-X-1ABC", "x\(secret)"] {
            let error = error { _ = try AgeIdentity(text) }
            #expect(error?.code == .malformedIdentity)
            #expect(error?.detail.uppercased().contains("GFPYYSJZ") == false)
        }
    }

    @Test("a file of recipients has comments, and its errors have lines")
    func recipientLists() throws {
        #expect(try AgeRecipient.list("# me\n\n\(recipient)\r\n\(recipient)").count == 2)
        #expect(try AgeRecipient.list("").isEmpty)
        #expect(error { _ = try AgeRecipient.list("# me\n\nnobody") }?.detail.hasPrefix("line 3: ") == true)
    }

    @Test("a file of identities is read, and protected by a passphrase")
    func identityFiles() throws {
        let identity = try AgeIdentity(secret)
        let text = AgeIdentityFile.text(of: identity, created: "2026-11-26T05:00:00Z")
        #expect(text == "# created: 2026-11-26T05:00:00Z\n# public key: \(recipient)\n\(secret)\n")
        #expect(!AgeIdentityFile.isProtected(Array(text.utf8)))
        #expect(try AgeIdentityFile.identities(in: Array(text.utf8)).map(\.recipient) == [identity.recipient])

        let passphrase = try AgePassphrase(Array("open".utf8), workFactor: 8)
        let protected = try AgeIdentityFile.protect(text, passphrase)
        #expect(AgeIdentityFile.isProtected(protected))
        let read = try AgeIdentityFile.identities(in: protected) { Array("open".utf8) }
        #expect(read.map(\.recipient) == [identity.recipient])
        #expect(error { _ = try AgeIdentityFile.identities(in: protected) }?.code == .passphraseNeeded)
        #expect(error { _ = try AgeIdentityFile.identities(in: protected) { [1] } }?.code == .wrongPassphrase)
        #expect(error { _ = try AgeIdentityFile.identities(in: protected) { [] } }?.code == .emptyPassphrase)
    }

    @Test("a file that holds no identity is refused with the line")
    func badIdentityFiles() throws {
        func refusal(_ text: String) -> String? {
            let error = error { _ = try AgeIdentityFile.identities(in: Array(text.utf8)) }
            return error?.code == .malformedIdentity ? error?.detail : nil
        }
        #expect(refusal("") == "the file has no identity")
        #expect(refusal("# nothing\n\n") == "the file has no identity")
        #expect(refusal("# a\n\(recipient)\n")?.hasPrefix("line 2: this is a recipient") == true)
        #expect(refusal("\(secret)\n\(secret)x\n")?.hasPrefix("line 2: ") == true)
        #expect(refusal("\(secret)\nx")?.contains("GFPYYSJZ") == false)
        let file = try AgeWriter(for: [try AgeRecipient(recipient)]).whole([1])
        let wrong = error { _ = try AgeIdentityFile.identities(in: file) { [1] } }
        #expect(wrong?.code == .malformedIdentity)
        #expect(error { _ = try AgeIdentityFile.identities(in: [0xff, 0xfe]) }?.code == .malformedIdentity)
        let long = [UInt8](repeating: 10, count: AgeIdentityFile.lengthLimit + 1)
        #expect(error { _ = try AgeIdentityFile.identities(in: long) }?.code == .malformedIdentity)
    }
}
