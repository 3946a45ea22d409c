// StateFile reads and writes files, and nothing else.

import ArchiverKit
import Foundation
import Glibc
import SystemPackage
import TestTraits
import Testing

@Suite("Files of states", .blocking)
struct StateFileTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test(
        "a URL that is not a file on this machine is refused by name, and nothing is read or written",
        arguments: [
            "https://example.com%@", "http://localhost%@", "ftp://h%@", "file://server%@", "%@", "file://%@%%00x",
        ])
    func refused(form: String) throws {
        let path = sandbox.base.directory.appending("game.json").string
        let url = try #require(URL(string: form.replacing("%@", with: path).replacing("%%", with: "%")))
        #expect {
            try StateFile.save(Game(score: 1), to: url)
        } throws: { error in
            guard case .file(let cause)? = error as? StateError else { return false }
            return cause.message.contains(url.absoluteString) && cause.remedy?.contains("URL(filePath:)") == true
        }
        #expect(access(path, F_OK) != 0, "\(url) was written")
        try StateFile.save(Game(score: 2), to: URL(filePath: path))
        #expect(throws: StateError.self) { try StateFile.load(Game.self, from: url) }
        #expect(throws: StateError.self) { try sandbox.archive.load(Game.self, as: "game", startingFrom: url) }
        #expect(try sandbox.archive.history(of: "game").isEmpty)
    }

    @Test("a file's name may have any characters")
    func names() throws {
        for name in ["a b.json", "ü%20?#.json", "-x", "c:\\d"] {
            let url = URL(filePath: sandbox.base.directory.string, directoryHint: .isDirectory).appending(path: name)
            try StateFile.save(Game(score: 3), to: url)
            #expect(access(sandbox.base.directory.appending(name).string, F_OK) == 0, "\(name)")
            #expect(try StateFile.load(Game.self, from: url) == Game(score: 3))
        }
        let local = try #require(URL(string: "file://localhost\(sandbox.base.directory)/local.json"))
        try StateFile.save(Game(score: 4), to: local)
        #expect(try StateFile.load(Game.self, from: local) == Game(score: 4))
    }

    @Test("saving keeps a file's permissions, and replaces the file that a link names instead of the link")
    func replacing() throws {
        let directory = sandbox.base.directory
        let (file, link) = (directory.appending("secret.json"), directory.appending("link.json"))
        try StateFile.save(Game(score: 1), to: URL(filePath: file.string))
        #expect(chmod(file.string, 0o600) == 0 && symlink("secret.json", link.string) == 0)
        for (number, path) in [file, link].enumerated() {
            try StateFile.save(Game(score: 5 + number), to: URL(filePath: path.string))
            var status = stat()
            #expect(lstat(file.string, &status) == 0 && status.st_mode == S_IFREG | 0o600)
            #expect(lstat(link.string, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
            #expect(try StateFile.load(Game.self, from: URL(filePath: file.string)).score == 5 + number)
        }
        let (dangling, new) = (directory.appending("dangling.json"), directory.appending("new.json"))
        #expect(symlink("new.json", dangling.string) == 0)
        try StateFile.save(Game(score: 7), to: URL(filePath: dangling.string))
        #expect(try StateFile.load(Game.self, from: URL(filePath: new.string)).score == 7)
        #expect(symlink("circle.json", directory.appending("circle.json").string) == 0)
        #expect(throws: StateError.self) {
            try StateFile.save(Game(), to: URL(filePath: directory.appending("circle.json").string))
        }
    }

    @Test("a directory and a missing file throw an error")
    func missing() throws {
        for path in ["", "nowhere/game.json"] {
            let url = URL(filePath: sandbox.base.directory.appending(path).string)
            #expect(throws: StateError.self) { try StateFile.save(Game(), to: url) }
            #expect(throws: StateError.self) { try StateFile.load(Game.self, from: url) }
        }
        #expect(throws: StateError.self) { try StateFile.save(Game(), to: URL(filePath: "/")) }
    }

    @Test("a number with more digits than a Double has is exact as a Decimal")
    func decimals() throws {
        struct Price: Codable, Sendable, Equatable { var amount: Decimal, rate: Double }
        try sandbox.base.write("price.json", #"{"amount": 1234567890.0987654321, "rate": 0.12345678901234567890123}"#)
        let url = URL(filePath: sandbox.base.directory.appending("price.json").string)
        let price = try StateFile.load(Price.self, from: url)
        #expect(price.amount == Decimal(string: "1234567890.0987654321") && price.rate == 0.12345678901234567890123)
        try StateFile.save(price, to: url)
        #expect(try StateFile.load(Price.self, from: url) == price)
        let plain = Price(amount: 0.1, rate: 1)
        try StateFile.save(plain, to: url)
        #expect(try StateFile.load(Price.self, from: url) == plain)
        #expect(try String(contentsOf: url, encoding: .utf8).contains("\"amount\" : 0.1"))
    }
}
