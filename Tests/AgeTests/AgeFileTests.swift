// Files that are written here: every part of them, and every change of them.

import Age
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct AgeFileTests {
    private let identity = AgeIdentity.generate()

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) } }

    private func writer(_ further: [AgeStanza] = []) throws -> AgeWriter {
        try AgeWriter(for: [try #require(identity.recipient)], further: { _ in further })
    }

    private func fetch(_ file: [UInt8]) -> AgeReader.Fetch {
        { Array(file[Int($0.lowerBound)..<Int($0.upperBound)]) }
    }

    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]

    @Test("what is encrypted in pieces of any size is decrypted, and has the announced length", arguments: sizes)
    func pieces(_ size: Int) throws {
        let plain = bytes(size)
        for piece in [1000, 65_536, 70_001, 1 << 20] {
            var writer = try writer()
            var file = writer.start
            for start in stride(from: 0, to: size, by: piece) {
                file += try writer.write(Array(plain[start..<min(size, start + piece)]))
            }
            let length = writer.length(ofPlain: UInt64(size))
            let start = UInt64(writer.headerLength)
            file += try writer.finish()
            #expect(length == UInt64(file.count))
            #expect(AgePayload.plainLength(of: length - start) == UInt64(size))
            #expect(try AgeReader.decrypt(file, [identity]) == plain)
        }
    }

    @Test("any part of a file can be encrypted again, and decrypted alone", arguments: sizes)
    func parts(_ size: Int) throws {
        let plain = bytes(size)
        let writer = try writer()
        let read: (Range<UInt64>) -> [UInt8] = { Array(plain[Int($0.lowerBound)..<Int($0.upperBound)]) }
        let length = writer.length(ofPlain: UInt64(size))
        let file = try writer.bytes(0..<length, plainLength: UInt64(size), read)
        #expect(UInt64(file.count) == length)
        #expect(file == (try writer.whole(plain)))
        var random = SeededGenerator("parts of an age file")
        let reader = try AgeReader(length: length, [identity], fetch(file))
        #expect(reader.plainLength == UInt64(size))
        try reader.checkEnd(fetch(file))
        let ends: [UInt64] = [0, 1, 65_535, 65_536, 65_537, 131_072].filter { $0 <= length }
        let anywhere = (0..<40).map { _ in
            let start = UInt64.random(in: 0...length, using: &random)
            return start..<UInt64.random(in: start...length, using: &random)
        }
        for range in anywhere + ends.flatMap({ end in ends.filter { $0 <= end }.map { $0..<end } }) {
            let (start, end) = (range.lowerBound, range.upperBound)
            #expect(
                try writer.bytes(start..<end, plainLength: UInt64(size), read) == Array(file[Int(start)..<Int(end)]))
            let part = (start..<end).clamped(to: 0..<UInt64(size))
            #expect(try reader.read(start..<end, fetch(file)) == read(part))
            var steps: [[UInt8]] = []
            try reader.read(start..<end, fetch(file)) { steps.append(Array($0)) }
            #expect(Array(steps.joined()) == read(part) && steps.allSatisfy { (1...65_536).contains($0.count) })
        }
    }

    @Test("a file that was cut off, lengthened or has its steps exchanged is refused")
    func cuts() throws {
        let plain = bytes(200_000)
        let writer = try writer()
        let start = writer.start.count
        let header = writer.headerLength
        let file = try writer.whole(plain)
        let step = 65_552
        func refuses(_ file: [UInt8], _ code: AgeError.Code) {
            do {
                _ = try AgeReader.decrypt(file, [identity])
                Issue.record("a file of \(file.count) bytes was accepted")
            } catch { #expect((error as? AgeError)?.code == code, "\(file.count)") }
        }
        for length in [start, start + 15, start + 16, start + step - 1, start + step, start + 2 * step, file.count - 1]
        {
            refuses(Array(file[..<length]), .damaged)
        }
        for length in [0, 1, 21, 22, 30, header - 1, header, start - 1] {
            refuses(Array(file[..<length]), .malformedHeader)
        }
        refuses(file + [0], .damaged)
        refuses(file + file[start...], .damaged)
        let exchanged =
            file[..<start] + file[(start + step)..<(start + 2 * step)] + file[start..<(start + step)]
            + file[(start + 2 * step)...]
        refuses(Array(exchanged), .damaged)
        // The end is checked although only the beginning is read.
        let short = Array(file[..<(start + step)])
        let reader = try AgeReader(length: UInt64(short.count), [identity], fetch(short))
        #expect(throws: AgeError.self) { try reader.checkEnd(fetch(short)) }
        #expect(throws: AgeError.self) { try reader.read(0..<1, fetch(short)) }
    }

    @Test("every changed byte is noticed")
    func changes() throws {
        let stanza = try #require(AgeStanza(type: "example.org/x", arguments: ["y"], body: bytes(100)))
        let file = try writer([stanza]).whole(Array("a secret".utf8))
        for index in file.indices {
            for bit in [UInt8(1), 0x20, 0x80] {
                var changed = file
                changed[index] ^= bit
                #expect(throws: AgeError.self, "byte \(index)") { try AgeReader.decrypt(changed, [identity]) }
            }
        }
    }

    @Test("a header with stanzas of any size is read back with them, in few reads")
    func stanzas() throws {
        let stanzas = try [0, 1, 47, 48, 49, 96, 5000].map {
            try #require(AgeStanza(type: "example.org/\($0)", arguments: ["!~", "b"], body: bytes($0)))
        }
        #expect(AgeStanza(type: "a b") == nil)
        #expect(AgeStanza(type: "") == nil)
        #expect(AgeStanza(type: "a", arguments: ["é"]) == nil)
        var given: [UInt8] = []
        let writer = try AgeWriter(for: [try #require(identity.recipient)]) { commitment in
            given = commitment
            return stanzas
        }
        let file = try writer.whole([1, 2, 3])
        var reads = 0
        let reader = try AgeReader(length: UInt64(file.count), [identity]) { range in
            reads += 1
            return try fetch(file)(range)
        }
        #expect(Array(reader.header.stanzas.dropFirst()) == stanzas)
        #expect(reader.commitment == given)
        #expect(given.count == 32)
        #expect(reads == 2)
        let header = try AgeHeader(parsing: file)
        #expect(header == reader.header)
        #expect(header.length == writer.headerLength)
        #expect(try AgeReader(start: writer.start, length: UInt64(file.count), [identity]).plainLength == 3)
    }

    @Test("a header without an end is refused after a bounded number of bytes")
    func endless() throws {
        let line = Array("-> x\n".utf8) + Array(repeating: UInt8(ascii: "A"), count: 64) + [10]
        for filling in [Array("-> ".utf8) + [UInt8](repeating: 65, count: 1 << 20), line, Array("-> x\n\n".utf8)] {
            var file = Array("age-encryption.org/v1\n".utf8)
            while file.count < 1 << 20 { file += filling }
            var read = 0
            do {
                _ = try AgeReader(length: 1 << 40, [identity]) { range in
                    read += range.count
                    return try fetch(file)(range)
                }
                Issue.record("an endless header was accepted")
            } catch { #expect((error as? AgeError)?.code == .malformedHeader) }
            #expect(read <= AgeHeader.lengthLimit + 16)
        }
    }

    @Test("a file is read by each of its recipients and by nobody else")
    func recipients() throws {
        let others = (0..<3).map { _ in AgeIdentity.generate() }
        let file = try AgeWriter(for: ([identity] + others).compactMap(\.recipient)).whole([7])
        for reader in [identity] + others { #expect(try AgeReader.decrypt(file, [reader]) == [7]) }
        #expect(try AgeReader.decrypt(file, [.generate(), others[2]]) == [7])
        #expect(throws: AgeError.self) { try AgeReader.decrypt(file, [.generate()]) }
        #expect(throws: AgeError.self) { try AgeReader.decrypt(file, []) }
        #expect(throws: AgeError.self) { try AgeWriter(for: []) }
    }

    @Test("a recipient of low order is refused, as everybody could read the file")
    func lowOrder() throws {
        // The point 0: its text has a right checksum.
        let zero = try AgeRecipient("age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z")
        do {
            _ = try AgeWriter(for: [zero])
            Issue.record("a file was encrypted for a point of low order")
        } catch { #expect((error as? AgeError)?.code == .malformedRecipient) }
    }

    @Test("a passphrase reads its file, and another one does not")
    func passphrases() throws {
        let passphrase = try AgePassphrase(Array("correct horse".utf8), workFactor: 8)
        let file = try AgeWriter(passphrase: passphrase).whole([1, 2])
        #expect(try AgeReader.decrypt(file, [identity, AgeIdentity(passphrase: passphrase)]) == [1, 2])
        func code(_ identities: [AgeIdentity]) -> AgeError.Code? {
            do {
                _ = try AgeReader.decrypt(file, identities)
                return nil
            } catch { return (error as? AgeError)?.code }
        }
        #expect(code([AgeIdentity(passphrase: try AgePassphrase([1]))]) == .wrongPassphrase)
        #expect(code([identity]) == .passphraseNeeded)
        #expect(throws: AgeError.self) { try AgePassphrase([]) }
    }
}
