// Compares two saved states field by field.

internal import ArchiveFormat
package import Archives
internal import TextDiff

/// A field that only one of two states has, or that differs between them.
package struct StateDifference {
    package var change: Difference.Kind { old == nil ? .added : new == nil ? .removed : .modified }
    /// The names and list positions that lead to the field, joined by dots; empty for the whole state.
    package let path: String
    /// The old value; nil if the field was added.
    package let old: StateJSON?
    /// The new value; nil if the field was removed.
    package let new: StateJSON?
}

/// Compares two states field by field, and lists by their longest common subsequence.
package struct StateComparison {
    private var differences: [StateDifference] = []
    private var path: [String] = []

    /// The differences, in the order in which states are shown.
    package static func differences(from left: StateJSON, to right: StateJSON) throws -> [StateDifference] {
        var comparison = StateComparison()
        try comparison.compare(left.item, right.item)
        return comparison.differences
    }

    private mutating func compare(_ left: CBORValue, _ right: CBORValue) throws {
        switch (left, right) {
        case (.map(let left), .map(let right)): try compare(left, right)
        case (.array(let left), .array(let right)): try compare(left, right)
        default: if left.encoded() != right.encoded() { add(left, right) }
        }
    }

    private mutating func compare(
        _ left: [(key: CBORValue, value: CBORValue)], _ right: [(key: CBORValue, value: CBORValue)]
    ) throws {
        var fields: [[UInt8]: (name: String, left: CBORValue?, right: CBORValue?)] = [:]
        for (key, value) in left { fields[key.encoded()] = (try StateJSON.text(ofKey: key), value, nil) }
        for (key, value) in right {
            let name = try StateJSON.text(ofKey: key)
            fields[key.encoded(), default: (name, nil, nil)].right = value
        }
        for field in fields.values.sorted(by: { $0.name < $1.name }) {
            try at(try StateComparison.component(field.name)) { comparison in
                if let left = field.left, let right = field.right {
                    try comparison.compare(left, right)
                } else {
                    comparison.add(field.left, field.right)
                }
            }
        }
    }

    private mutating func compare(_ left: [CBORValue], _ right: [CBORValue]) throws {
        // Equal items get equal numbers.
        var numbers: [[UInt8]: Int] = [:]
        func numbered(_ items: [CBORValue]) -> [Int] {
            items.map { item in
                let bytes = item.encoded()
                let number = numbers[bytes] ?? numbers.count
                numbers[bytes] = number
                return number
            }
        }
        for edit in LineDiff.edits(from: numbered(left), to: numbered(right)) {
            let common = min(edit.left.count, edit.right.count)
            for (old, new) in zip(edit.left.prefix(common), edit.right) {
                try at("\(new)") { try $0.compare(left[old], right[new]) }
            }
            for old in edit.left.dropFirst(common) { at("\(old)") { $0.add(left[old], nil) } }
            for new in edit.right.dropFirst(common) { at("\(new)") { $0.add(nil, right[new]) } }
        }
    }

    private mutating func at<Failure: Error>(
        _ component: String, _ body: (inout StateComparison) throws(Failure) -> Void
    ) throws(Failure) {
        path.append(component)
        try body(&self)
        path.removeLast()
    }

    private mutating func add(_ old: CBORValue?, _ new: CBORValue?) {
        differences.append(
            StateDifference(
                path: path.joined(separator: "."), old: old.map(StateJSON.init), new: new.map(StateJSON.init)))
    }

    /// The name as a component of a path; as a JSON text if it could be misread.
    private static func component(_ name: String) throws -> String {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case ".", ":", "\"", "\\": false
            default:
                !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
            }
        }
        return isPlain && !name.isEmpty ? name : try StateJSON(.text(name)).compact()
    }
}
