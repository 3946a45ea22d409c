// Changes of a configuration file that leave everything else in it as it is: comments, order, blank lines.

/// The text of a configuration file, with roots added and removed.
package enum ConfigurationText {
    /// A text as a TOML value.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A line of the file.
    package static func line(_ key: String, _ value: ConfigurationEntry.Value) -> String {
        switch value {
        case .text(let text): "\(key) = \(quoted(text))"
        case .flag(let flag): "\(key) = \(flag)"
        case .texts(let texts): "\(key) = [" + texts.map(quoted).joined(separator: ", ") + "]"
        }
    }

    /// `text` with the lines `added` at its end, after a blank line.
    package static func appending(_ added: [String], to text: String) -> String {
        var result = text
        if !result.isEmpty, !result.hasSuffix("\n") { result += "\n" }
        if !result.isEmpty { result += "\n" }
        return result + added.joined(separator: "\n") + "\n"
    }

    /// `text` without the lines `removed`, counted from 1, and without a blank line before them.
    package static func removing(_ removed: ClosedRange<Int>, from text: String) -> String {
        var lines = text.lines
        guard removed.lowerBound >= 1, removed.upperBound <= lines.count else { return text }
        lines.removeSubrange((removed.lowerBound - 1)..<removed.upperBound)
        let before = removed.lowerBound - 2
        if lines.indices.contains(before), lines[before].allSatisfy(\.isWhitespace) { lines.remove(at: before) }
        return lines.joined(separator: "\n")
    }
}

extension String {
    /// The lines without their line feeds; a carriage return before one stays, although Swift counts both as one character.
    var lines: [Substring] {
        utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
    }
}
