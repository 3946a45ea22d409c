// The test vectors of the age format (fixtures/age): what must be read, and what must be refused, and as what.

import Age
import CZlib
import Crypto
import Foundation
import TestTraits
import Testing

struct AgeVector: CustomTestStringConvertible, Sendable {
    let name: String
    let fields: [String: String]
    /// The field can occur several times.
    let identities: [String]
    let file: [UInt8]

    var testDescription: String { name }

    static let all: [AgeVector] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "fixtures/age")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            guard name != "README.md", let data = try? Data(contentsOf: folder.appending(path: name)),
                let end = data.firstRange(of: Data("\n\n".utf8))
            else { return nil }
            var fields: [String: String] = [:]
            var identities: [String] = []
            for line in String(decoding: data[..<end.lowerBound], as: UTF8.self).split(separator: "\n") {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                fields[String(line[..<colon])] = value
                if line[..<colon] == "identity" { identities.append(value) }
            }
            let file = [UInt8](data[end.upperBound...])
            return AgeVector(
                name: name, fields: fields, identities: identities,
                file: fields["compressed"] == nil ? file : inflated(file))
        }
    }()

    private static func inflated(_ bytes: [UInt8]) -> [UInt8] {
        var length = uLong(32 << 20)
        var plain = [UInt8](repeating: 0, count: Int(length))
        guard uncompress(&plain, &length, bytes, uLong(bytes.count)) == Z_OK else { return [] }
        return Array(plain.prefix(Int(length)))
    }

    func keys() throws -> [AgeIdentity] {
        if let passphrase = fields["passphrase"] {
            return [AgeIdentity(passphrase: try AgePassphrase(Array(passphrase.utf8)))]
        }
        return try identities.map { try AgeIdentity($0) }
    }
}

@Suite(.blocking) struct AgeVectorTests {
    @Test("the test vectors are there")
    func count() {
        #expect(AgeVector.all.count == 124)
    }

    @Test("a test vector is read, or refused for its reason", arguments: AgeVector.all)
    func vector(_ vector: AgeVector) throws {
        let outcome = outcome(vector)
        let expected = vector.fields["expect"]
        #expect(outcome.result == expected)
        if let payload = vector.fields["payload"] {
            #expect(SHA256.hash(data: outcome.plain).map { String(format: "%02x", $0) }.joined() == payload)
        } else {
            #expect(outcome.plain.isEmpty)
        }
    }

    @Test("every part of a good test vector can be read alone", arguments: AgeVector.all)
    func parts(_ vector: AgeVector) throws {
        guard vector.fields["expect"] == "success", vector.fields["armored"] == nil, vector.file.count < 1 << 20
        else { return }
        let fetch: AgeReader.Fetch = { Array(vector.file[Int($0.lowerBound)..<Int($0.upperBound)]) }
        let reader = try AgeReader(length: UInt64(vector.file.count), vector.keys(), fetch)
        try reader.checkEnd(fetch)
        #expect(reader.plainLength == UInt64(outcome(vector).plain.count))
        var plain: [UInt8] = []
        let part: UInt64 = 50_000
        for start in stride(from: 0, to: reader.plainLength, by: Int(part)) {
            plain += try reader.read(start..<start + part, fetch)
        }
        #expect(plain == outcome(vector).plain)
    }

    private func outcome(_ vector: AgeVector) -> (result: String, plain: [UInt8]) {
        var plain: [UInt8] = []
        do {
            let file = vector.fields["armored"] == nil ? vector.file : try AgeArmor.decode(vector.file)
            let fetch: AgeReader.Fetch = { Array(file[Int($0.lowerBound)..<Int($0.upperBound)]) }
            let reader = try AgeReader(length: UInt64(file.count), vector.keys(), fetch)
            try reader.readAll(fetch) { plain += $0 }
            return ("success", plain)
        } catch let error as AgeError {
            switch error.code {
            case .malformedArmor: return ("armor failure", plain)
            case .malformedHeader, .unknownVersion: return ("header failure", plain)
            case .noMatch, .wrongPassphrase, .passphraseNeeded: return ("no match", plain)
            case .wrongAuthentication: return ("HMAC failure", plain)
            case .damaged: return ("payload failure", plain)
            default: return ("\(error)", plain)
            }
        } catch { return ("\(error)", plain) }
    }
}
