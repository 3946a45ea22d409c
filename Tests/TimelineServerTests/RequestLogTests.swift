// What the log says of a page's requests.

import ArchiverKit
import Logging
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@testable import TimelineServer

@Suite(.blocking) struct RequestLogTests {
    /// The lines of a log.
    private final class Lines: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { lines.withLock(\.self) }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        var logLevel: Logger.Level

        init(_ lines: Lines, _ level: Logger.Level) { (self.lines, logLevel) = (lines, level) }

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).filter { $0.key != "milliseconds" }.sorted { $0.key < $1.key }
            let text = fields.map { " \($0.key)=\($0.value)" }.joined()
            lines.add("\(event.level) \(event.message)" + text)
        }
    }

    private static func answer(
        _ place: ServerPlace, _ method: String, _ path: String, _ body: String = ""
    ) throws -> Int {
        try ServerPlace.answer(place.port, method, path, place.headers, body).status
    }

    @Test("changes and failures are logged, questions only at the level debug, and nothing names a file")
    func levels() async throws {
        for (level, question) in [(Logger.Level.info, false), (Logger.Level.debug, true)] {
            let lines = Lines()
            let logger = Logger(label: "test") { _ in Handler(lines, level) }
            let place = try await ServerPlace(logger: logger) { scratch, archive in
                try scratch.write("root/secret.txt", "secret")
                _ = try archive.capture(scratch.path.pushing("root"))
            }
            #expect(try RequestLogTests.answer(place, "GET", "/api/1/roots") == 200)
            #expect(try RequestLogTests.answer(place, "GET", "/api/1/entries?path=secret.txt") >= 400)
            #expect(try RequestLogTests.answer(place, "POST", "/api/1/undo", #"{"root": "secret"}"#) >= 400)
            let found = lines.all
            #expect(found.first == "info served readOnly=false")
            #expect(found.contains("info request method=POST route=/api/1/session status=200"))
            #expect(found.contains { $0.hasPrefix("info request method=POST route=/api/1/undo status=4") }, "\(found)")
            #expect(found.contains("debug request method=GET route=/api/1/roots status=200") == question)
            #expect(!found.contains { $0.contains("entries?") }, "\(found)")
        }
    }

    @Test("refused strangers take one line a minute, however many there are")
    func strangers() async throws {
        let lines = Lines()
        let place = try await ServerPlace(logger: Logger(label: "test") { _ in Handler(lines, .info) })
        let before = lines.all.count
        for _ in 0..<20 {
            let answer = try ServerPlace.answer(place.port, "GET", "/api/1/roots", ServerPlace.own(place.port))
            #expect(answer.status == 401)
        }
        #expect(
            Array(lines.all[before...]) == [
                "notice request method=GET route=/api/1/roots status=401 text=this page has no session"
            ])
    }
}
