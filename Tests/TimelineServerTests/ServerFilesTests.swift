// The page's files in the program, and the description of its interface.

import ArchiverKit
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

@Suite(.blocking) struct ServerFilesTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/TimelineServer")

    @Test("the program contains every file of the page unchanged")
    func page() throws {
        let folder = ServerFilesTests.sources.appending(path: "Page")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        #expect(Set(names) == Set(PageFiles.all.keys))
        for name in names {
            #expect(PageFiles.all[name] == Array(try Data(contentsOf: folder.appending(path: name))), "\(name)")
        }
    }

    @Test("the page requests only its own server, and has no inline script or style")
    func policy() throws {
        for (name, bytes) in PageFiles.all {
            let text = String(decoding: bytes, as: UTF8.self)
            let addresses = text.matches(of: #/(https?:)?\/\/[a-z0-9.-]+\.[a-z]+/#).map { String($0.output.0) }
            #expect(addresses.allSatisfy { $0 == "http://www.w3.org" }, "\(name): \(addresses)")
            #expect(!text.contains("innerHTML") && !text.contains("eval("), "\(name)")
        }
        let html = String(decoding: PageFiles.all["index.html"] ?? [], as: UTF8.self)
        #expect(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick="))
        for tag in html.matches(of: #/<script[^>]*>/#) { #expect(tag.output.contains("src=")) }
    }

    private struct Description: Decodable {
        struct Operation: Decodable { let summary: String }
        let paths: [String: [String: Operation]]
    }

    @Test("openapi.json describes exactly the addresses that are served")
    func description() throws {
        let json = try Data(contentsOf: ServerFilesTests.sources.appending(path: "openapi.json"))
        let described = try JSONDecoder().decode(Description.self, from: json).paths.flatMap { path, operations in
            operations.keys.map { "\($0) \(path)" }
        }
        let scratch = try TemporaryDirectory()
        let archive = try Archive.open(scratch.path.pushing("archive"), creating: true)
        let served = RecordedRoutes(archive).all.filter { $0.path.hasPrefix("/api/") }.map { route in
            "\(route.method.lowercased()) \(route.path)"
        }
        #expect(Set(described) == Set(served))
        #expect(served.count > 20)
    }
}
