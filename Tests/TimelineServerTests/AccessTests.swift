// Who gets an answer: every route, however its address is written.

import ArchiverKit
import HTTPTypes
import Hummingbird
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

/// The routes as the server adds them to its router.
final class RecordedRoutes: RouterMethods {
    typealias Context = BasicRequestContext

    private(set) var all: [(method: String, path: String)] = []

    init(_ archive: Archive) {
        TimelineServer.addRoutes(to: self, ServerContext(archive, TimelineServerOptions(), Access()))
    }

    func on<Responder: HTTPResponder>(_ path: RouterPath, method: HTTPRequest.Method, responder: Responder) -> Self
    where Responder.Context == BasicRequestContext {
        all.append((method.rawValue, path.description))
        return self
    }

    func add(middleware: any MiddlewareProtocol<Request, Response, BasicRequestContext>) -> Self { self }
}

@Suite(.blocking) struct AccessTests {
    /// Spellings of an address that a router may take for the same one.
    private static func spellings(of path: String) -> [String] {
        let names = path.split(separator: "/").map(String.init)
        let last = names.last ?? ""
        return [
            "/" + path, "//" + path, path + "/", path + "//", "/" + names.joined(separator: "//"), "/." + path,
            "/x/.." + path, "/" + names.joined(separator: "/./"), path + "/.", path + "/x/..", "/%2f" + path,
            "/" + names.joined(separator: "%2f"), "/" + names.joined(separator: "%5c"),
            "/" + names.joined(separator: "\\"), path + "%00", "/%61pi" + path.dropFirst(4),
            path.dropLast(last.count) + last.uppercased(), path + "#", path + ";x", "http://127.0.0.1" + path,
        ]
    }

    private static func filled(_ path: String) -> String { path.replacing("{snapshot}", with: "0123456789abcdef") }

    @Test("no route answers without a session of this server, however its address is spelled")
    func sessions() async throws {
        let place = try await ServerPlace { scratch, archive in
            try scratch.write("root/a.txt", "secret")
            _ = try archive.capture(scratch.path.pushing("root"))
        }
        let routes = RecordedRoutes(place.archive).all.filter { $0.path.hasPrefix("/api/") }
        #expect(routes.count > 20)
        let other = Access()
        let foreign = try #require(other.session(for: other.newToken()))
        let sessions = [nil, String(repeating: "0", count: 64), foreign, place.ticket]
        for route in routes {
            let path = AccessTests.filled(route.path)
            // The exchange of the token itself needs no session; everything that resembles it does.
            let isExchange = (route.method, path) == ("POST", SessionRoutes.path)
            for spelling in AccessTests.spellings(of: path) + (isExchange ? [] : [path]) {
                for method in Set(["GET", "POST", route.method]) {
                    for host in ["127.0.0.1", "localhost"] {
                        let session = sessions[(spelling.utf8.count + method.utf8.count) % sessions.count]
                        var headers = ["Host": "\(host):\(place.port)", "Origin": "http://\(host):\(place.port)"]
                        headers["Content-Type"] = "application/json"
                        headers["X-Archiver-Session"] = session
                        let answer = try ServerPlace.answer(place.port, method, spelling, headers)
                        #expect(
                            [400, 401].contains(answer.status),
                            "\(method) \(spelling) \(host) \(session ?? "no session"): \(answer.status)")
                    }
                }
            }
        }
    }

    @Test("every route refuses every kind of wrong session at its plain address")
    func wrongSessions() async throws {
        let place = try await ServerPlace()
        let other = Access()
        let foreign = try #require(other.session(for: other.newToken()))
        for route in RecordedRoutes(place.archive).all where route.path.hasPrefix("/api/") {
            let path = AccessTests.filled(route.path)
            if path == SessionRoutes.path { continue }
            for session in [nil, "", String(repeating: "0", count: 64), foreign, place.ticket] {
                for method in [route.method, "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"] {
                    var headers = ServerPlace.own(place.port)
                    headers["X-Archiver-Session"] = session
                    let status = try ServerPlace.answer(place.port, method, path, headers).status
                    #expect(status == 401, "\(method) \(path) \(session ?? "no session")")
                }
            }
            let isFile = path.contains("/content/") || path.contains("/archive/")
            let ticket = "\(path)?ticket=\(place.ticket)"
            let status = try ServerPlace.answer(place.port, "GET", ticket, ServerPlace.own(place.port)).status
            #expect(isFile ? status == 404 : [401, 404].contains(status), "\(path) \(status)")
        }
    }

    @Test("addresses that are not plain are refused even with a session, as are two Host headers")
    func plainAddresses() async throws {
        let place = try await ServerPlace()
        for path in ["/api/1/roots", "/app.js"] {
            for spelling in AccessTests.spellings(of: path) where spelling != path {
                // These are plain: the first names the same address, the second another one.
                let isPlain = spelling.hasPrefix("http:") || spelling.contains { $0.isUppercase }
                let status = try ServerPlace.answer(place.port, "GET", spelling, place.headers).status
                #expect(isPlain ? [200, 404].contains(status) : status == 400, "\(spelling) \(status)")
            }
        }
        for host in ["evil.example", "127.0.0.1:\(place.port)"] {
            var headers = place.headers
            headers["host"] = host
            #expect(try [400, 421].contains(ServerPlace.answer(place.port, "GET", "/api/1/roots", headers).status))
        }
        #expect(try ServerPlace.answer(place.port, "GET", "/api/1/roots", place.headers).status == 200)
        for file in ["", "app.js", "index.html", "icon.svg"] {
            let headers = ["Host": "127.0.0.1:\(place.port)"]
            #expect(try ServerPlace.answer(place.port, "GET", "/\(file)", headers).status == 200)
        }
    }

    @Test("connections that send no complete request are closed, and others are answered then")
    func slowConnections() async throws {
        let place = try await ServerPlace(connectionLimit: 4, patience: .milliseconds(200))
        let slow = try (0..<12).map { number in
            let connection = try Connection(place.port)
            try connection.send(String("GET / HTTP/1.1\r\nHost: ".prefix(number * 2)))
            return connection
        }
        // It waits until others are closed.
        #expect(try ServerPlace.answer(place.port, "GET", "/api/1/roots", place.headers).status == 200)
        for connection in slow { #expect(try connection.rest().isEmpty) }
    }
}
