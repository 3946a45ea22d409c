// Parsing of URLs and headers, and quoting.

import ArchiverKit
import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct RequestTests {
    @Test("parameters are arbitrary bytes")
    func parameters() throws {
        let query = try Query("path=a%20b%2Fc&q=x+y&empty=&=lost&flag&bad=%FF%00")
        #expect(query["path"] == "a b/c" && query["q"] == "x y" && query["empty"] == "" && query["flag"] == "")
        #expect(query.bytes("bad") == [0xFF, 0])
        #expect(try query.path().bytes == Array("a b/c".utf8))
        for text in ["a=%", "a=%4", "a=%zz"] { #expect(throws: Refusal.self) { try Query(text) } }
        for text in ["path=/etc", "path=a/../b", "path=a//b", "pathBytes=*", "path=a%00b"] {
            #expect(throws: Refusal.self, "\(text)") { try Query(text).path() }
        }
        #expect(try Query("limit=900").number("limit", in: 1...200, usual: 5) == 200)
        #expect(try Query("").number("limit", in: 1...200, usual: 5) == 5)
        #expect(throws: Refusal.self) { try Query("limit=x").number("limit", in: 1...200, usual: 5) }
    }

    @Test("base64url equals Foundation's, and decodes to the same bytes")
    func base64() {
        var random = SeededGenerator("base64url")
        for _ in 0..<500 {
            let bytes = random.noise(random.below(40))
            let text = Base64URL.encoded(bytes)
            let expected = Data(bytes).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(text == expected, "seed \(random.seed)")
            #expect(Base64URL.decoded(text) == bytes, "seed \(random.seed)")
        }
        #expect(Base64URL.decoded("a b") == nil)
    }

    @Test(
        "byte ranges follow RFC 9110",
        arguments: [
            ("bytes=0-4", 0..<5), ("bytes=3-", 3..<10), ("bytes=-4", 6..<10), ("bytes=-40", 0..<10),
            ("bytes=8-99", 8..<10),
            ("bytes=10-", 0..<0), ("bytes=5-4", nil), ("bytes=a-b", nil), ("bytes=0-1,3-4", nil), ("chunks=0-1", nil),
        ] as [(String, Range<UInt64>?)])
    func ranges(text: String, expected: Range<UInt64>?) {
        #expect(ByteRange.parse(text, size: 10) == expected)
    }

    @Test("a token opens one session, and another server's token opens none")
    func tokens() {
        let access = Access()
        let token = access.newToken()
        let session = access.session(for: token)
        #expect(session.map(access.isSession) == true)
        #expect(access.session(for: token) == nil)
        #expect(Access().session(for: access.newToken()) == nil)
        #expect(!access.isSession("") && !access.isSession(token) && !access.isSession(access.ticket))
    }

    @Test("sessions outlive a server whose key is in a file that only the user can read")
    func keptKeys() throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.path.appending("run").appending("page.key")
        let (one, other) = (Access(SessionKey(in: file)), Access(SessionKey(in: file)))
        let session = try #require(one.session(for: one.newToken()))
        #expect(other.isSession(session) && other.ticket == one.ticket)
        #expect(!Access().isSession(session) && !other.isSession(one.ticket) && !other.isSession(session + "a"))
        #expect(!other.isSession("session-" + String(session.dropFirst(9))))
        let mode = try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.string)
        #expect(!Access(SessionKey(in: file)).isSession(session), "others may have read the key")
        try FileManager.default.removeItem(atPath: file.string)
        try FileManager.default.createSymbolicLink(atPath: file.string, withDestinationPath: "/dev/zero")
        #expect(!Access(SessionKey(in: file)).isSession(session))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: scratch.path.appending("run").string)
        try FileManager.default.removeItem(atPath: file.string)
        let open = Access(SessionKey(in: file))
        let lost = try #require(open.session(for: open.newToken()))
        #expect(!Access(SessionKey(in: file)).isSession(lost), "another user could replace the key")
    }

    @Test("only the server's own host names are accepted")
    func hosts() {
        let access = Access()
        #expect(!access.isOwnHost("127.0.0.1:80", .port(0)), "before the port is known")
        access.serve(port: 8017)
        for host in ["127.0.0.1:8017", "localhost:8017"] { #expect(access.isOwnHost(host, .port(0))) }
        for host in [
            nil, "", "127.0.0.1", "localhost", "evil.example:8017", "127.0.0.1:8018", "localhost:8017.evil.example",
        ] {
            #expect(!access.isOwnHost(host, .port(0)), "\(host ?? "none")")
        }
    }

    @Test("names of downloads and words of commands are quoted safely")
    func quoting() {
        #expect(
            Disposition.attachment(named: Array("a \"b\"\r\n.tar".utf8))
                == "attachment; filename*=UTF-8''a%20%22b%22%0D%0A.tar")
        #expect(ShellWord.text("91d0ab42:/notes.md") == "91d0ab42:/notes.md")
        #expect(ShellWord.text("a b'c$!") == "$'a b\\'c$!'" && ShellWord.text("a b'c") == "\"a b'c\"")
        #expect(ShellWord.text([0x61, 0xFF, 0x27, 0x0A]) == "$'a\\377\\'\\012'")
        #expect(ShellWord.text("x\u{202E}y") == "$'x\\342\\200\\256y'" && ShellWord.text("") == "\"\"")
    }
}
