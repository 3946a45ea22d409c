// The fields of an event in the log: those of `watch --json`, each as one word and one value.

internal import Logging
internal import Threading
internal import WatchControl

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An event's JSON as the fields of a log line.
struct LogFields {
    /// In the order of the words.
    private(set) var all: Logger.Metadata = [:]

    /// Fields that say the same in every line.
    private static let constant: Set = ["event", "host", "machine"]
    /// How many items of a list become fields.
    private static let mostItems = 3

    /// Up to here a number with a fraction part holds every whole number.
    private static let largestWhole = 9e15

    init(_ event: some Encodable) {
        guard let json = try? JSONText.of(event),
            let value = try? JSONDecoder().decode(Value.self, from: Data(json.utf8)), case .object(let members) = value
        else { return }
        for (key, value) in members where !LogFields.constant.contains(key) { add(value, key) }
    }

    /// How long something took, in milliseconds.
    static func of(_ time: Duration) -> Logger.Metadata {
        ["milliseconds": .stringConvertible(Int64((time.seconds * 1000).rounded()))]
    }

    /// Adds `value`, unless it says nothing.
    private mutating func add(_ value: Value, _ key: String) {
        switch value {
        case .nothing: break
        case .text(let text): if !text.isEmpty { all[key] = .string(text) }
        case .number(let number):
            let isWhole = number == number.rounded() && abs(number) < LogFields.largestWhole
            all[key] = isWhole ? .stringConvertible(Int64(number)) : .stringConvertible(number)
        case .flag(let flag): if flag { all[key] = .stringConvertible(flag) }
        case .object(let members): for (inner, value) in members { add(value, "\(key).\(inner)") }
        case .list(let items):
            for (index, item) in items.prefix(LogFields.mostItems).enumerated() { add(item, "\(key).\(index)") }
        }
    }

    private enum Value: Decodable {
        case nothing
        case flag(Bool)
        case number(Double)
        case text(String)
        case list([Value])
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .nothing
            } else if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let items = try? value.decode([Value].self) {
                self = .list(items)
            } else {
                self = .object(try value.decode([String: Value].self))
            }
        }
    }
}

/// Leaves names out of fields: only what is known to hold none stays.
final class PrivateFields: Sendable {
    private let roots = Locked<[String: Int]>([:])

    /// Words whose texts never hold a name.
    private static let harmless: Set = [
        "action", "backend", "cause", "changed", "captured", "code", "end", "id", "laterPrevious", "latest", "phase",
        "reason", "snapshot", "since", "start", "time", "lastEvent", "lastCapture", "lastWatched", "retired",
        "waitingUntil", "method", "route",
    ]
    /// Words whose texts are roots, which become numbers.
    private static let ofRoots: Set = ["root", "by", "outer"]

    /// The value without names; nil if it might hold one.
    func value(_ key: String, _ value: Logger.MetadataValue) -> Logger.MetadataValue? {
        guard case .string(let text) = value else { return value }
        let word = key.split(separator: ".").last { Int($0) == nil }.map(String.init) ?? key
        if PrivateFields.ofRoots.contains(word) { return .string("root-\(number(text))") }
        return PrivateFields.harmless.contains(word) ? value : nil
    }

    /// The number of a root, in the order in which they were first named.
    private func number(_ root: String) -> Int {
        roots.withLock { roots in
            if let known = roots[root] { return known }
            roots[root] = roots.count + 1
            return roots.count
        }
    }
}
