// The description of the interface, checked against real answers: every field is described, and has its type.

import ArchiverKit
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@testable import TimelineServer

/// The part of JSON Schema that the description uses.
private struct Schemas {
    let document: [String: Any]

    /// Returns what contradicts a schema in a value.
    func problems(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        if let name = (schema["$ref"] as? String)?.split(separator: "/").last.map(String.init) {
            let components = document["components"] as? [String: [String: Any]]
            guard let named = components?["schemas"]?[name] as? [String: Any] else {
                return ["\(place): no schema \(name)"]
            }
            return problems(value, named, at: place)
        }
        if let choices = schema["anyOf"] as? [[String: Any]] {
            let found = choices.map { problems(value, $0, at: place) }
            return found.contains([]) ? [] : found.min { $0.count < $1.count } ?? []
        }
        if let choices = schema["enum"] as? [String] {
            return choices.contains(value as? String ?? "") ? [] : ["\(place): \(value) is none of \(choices)"]
        }
        switch schema["type"] as? String {
        case "object":
            guard let object = value as? [String: Any] else { return ["\(place): not an object"] }
            guard let properties = schema["properties"] as? [String: [String: Any]] else {
                return ["\(place): undescribed"]
            }
            let required = schema["required"] as? [String] ?? []
            return required.filter { object[$0] == nil }.map { "\(place).\($0): missing" }
                + object.flatMap { key, value in
                    properties[key].map { problems(value, $0, at: "\(place).\(key)") } ?? [
                        "\(place).\(key): undescribed"
                    ]
                }
        case "array":
            guard let items = value as? [Any] else { return ["\(place): not an array"] }
            return items.flatMap { problems($0, schema["items"] as? [String: Any] ?? [:], at: "\(place)[]") }
        case "string": return value is String ? [] : ["\(place): not a string"]
        case "integer":
            return (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } == true
                ? [] : ["\(place): not an integer"]
        case "boolean":
            return (value as? NSNumber).map { $0 == true || $0 == false } == true ? [] : ["\(place): not a boolean"]
        // Anything that the description explains.
        default: return schema["description"] == nil ? ["\(place): no type"] : []
        }
    }
}

@Suite(.blocking) struct InterfaceTests {
    private static func past(_ scratch: TemporaryDirectory, _ archive: Archive) throws {
        let root = scratch.path.pushing("root")
        for text in ["one\n", "two\n", "three\n"] {
            try scratch.write("root/folder/a.txt", text)
            try scratch.write("root/b-\(text.count).txt", text)
            _ = try archive.capture(root)
        }
        try FileManager.default.removeItem(atPath: "\(root)/b-4.txt")
        try FileManager.default.createSymbolicLink(atPath: "\(root)/link", withDestinationPath: "folder")
        let latest = try archive.capture(root).latest
        try archive.label(.snapshot(latest), as: "a label")
        try archive.save(["level": 3], as: "Game")
        try archive.save(["level": 4], as: "Game")
    }

    @Test("every answer is as openapi.json describes it")
    func answers() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/TimelineServer/openapi.json")
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        let document = try #require(json as? [String: Any])
        let schemas = Schemas(document: document)
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let place = try await ServerPlace(past: InterfaceTests.past)
        var asked: Set<String> = []

        func schema(_ method: String, _ path: String) -> [String: Any] {
            let responses = paths["/api/1/\(path)"]?[method]?["responses"] as? [String: [String: Any]]
            let content = responses?["200"]?["content"] as? [String: [String: Any]]
            return content?.values.first?["schema"] as? [String: Any] ?? [:]
        }
        func check(_ method: String, _ path: String, _ answer: ServerPlace.Answer) throws -> [String: Any] {
            asked.insert("\(method) \(path)")
            #expect(answer.status == 200, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
            let value = try JSONSerialization.jsonObject(with: answer.body)
            #expect(schemas.problems(value, schema(method, path), at: path).isEmpty)
            return try #require(value as? [String: Any])
        }
        func get(_ path: String, _ query: String = "") throws -> [String: Any] {
            try check("get", path, ServerPlace.answer(place.port, "GET", "/api/1/\(path)?\(query)", place.headers))
        }
        func post(_ path: String, _ body: [String: Any]) throws -> [String: Any] {
            let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            return try check(
                "post", path, ServerPlace.answer(place.port, "POST", "/api/1/\(path)", place.headers, text))
        }

        let roots = try get("roots")["roots"] as? [[String: Any]]
        let root = try #require(roots?.first?["id"] as? String)
        let snapshots = try get("snapshots", "root=\(root)")["snapshots"] as? [[String: Any]] ?? []
        let ids = snapshots.compactMap { $0["id"] as? String }
        #expect(ids.count == 4)
        let (first, latest) = (ids[0], ids[3])
        for (path, query) in [
            ("timeline", "root=\(root)"), ("sessions", "root=\(root)"), ("status", "root=\(root)"),
            ("deleted", "root=\(root)"), ("tree", "snapshot=\(latest)&against=\(first)"),
            ("changes", "a=\(first)&b=\(latest)"), ("changes", "a=\(latest)&b=disk"), ("log", "root=\(root)"),
            ("log", "root=\(root)&path=folder/a.txt"), ("blame", "snapshot=\(latest)&path=folder/a.txt"),
            ("diff", "a=\(first)&b=\(latest)&path=folder/a.txt"),
            ("diff", "root=\(root)&a=\(first)&b=disk&path=folder/a.txt"),
            ("states", ""), ("states/versions", "title=Game"),
        ] { _ = try get(path, query) }
        var usage = try get("usage", "root=\(root)")
        while usage["isCounting"] as? Bool == true { usage = try get("usage", "root=\(root)") }
        let versions = try get("states/versions", "title=Game")["versions"] as? [[String: Any]] ?? []
        let states = versions.compactMap { $0["id"] as? String }
        _ = try get("states/value", "id=\(states[0])")
        _ = try get("states/diff", "a=\(states[1])&b=\(states[0])")

        let path: [String: Any] = ["path": "folder/a.txt", "snapshots": [first]]
        let plan = try post("restore/plan", ["paths": [path]])
        _ = try post("restore/apply", ["plan": plan["plan"] ?? ""])
        _ = try get("operations", "root=\(root)")
        _ = try post("undo", ["root": root])
        _ = try post("redo", ["root": root])
        _ = try post(
            "restore/plan",
            ["lines": ["path": "folder/a.txt", "older": ids[1], "newer": first, "hunks": [0]]])
        _ = try post("restore/plan", ["copy": ["path": "folder/a.txt", "snapshot": first, "name": "copy.txt"]])
        _ = try post("label", ["snapshot": first, "label": "first"])

        let described = paths.flatMap { path, operations in operations.keys.map { "\($0) \(path.dropFirst(7))" } }
        for kind in ["names", "content"] {
            let target = "search?root=\(root)&q=t&kind=\(kind)"
            let answer = try ServerPlace.answer(place.port, "GET", "/api/1/\(target)", place.headers)
            let lines = answer.body.split(separator: UInt8(ascii: "\n"))
            #expect(lines.count > 2)
            for line in lines {
                let value = try JSONSerialization.jsonObject(with: line)
                #expect(schemas.problems(value, schema("get", "search"), at: target).isEmpty)
            }
        }
        let events = try place.connection("events")
        var told = try events.wait(for: ": \n\n")
        try place.scratch.write("root/folder/a.txt", "four\n")
        _ = try await place.archive.capture(place.scratch.path.pushing("root"))
        told += try events.wait(for: "event: snapshot\ndata: {")
        _ = try post("label", ["snapshot": first, "label": "second"])
        told += try events.wait(for: "event: changed\ndata: {")
        // The last one may not have come as a whole.
        let data = told.split(separator: "\n").filter { $0.hasPrefix("data: ") && $0.hasSuffix("}") }
        #expect(data.count > 1)
        for line in data {
            let value = try JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8))
            #expect(schemas.problems(value, schema("get", "events"), at: "events").isEmpty, "\(line)")
        }
        // These answer with bytes; a session's answer is decoded by every test.
        let others = ["get content/{snapshot}", "get archive/{snapshot}", "get search", "get events", "post session"]
        #expect(Set(described).subtracting(asked) == Set(others))
    }
}
