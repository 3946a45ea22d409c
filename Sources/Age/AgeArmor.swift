// ASCII armor: an age file as strict PEM (C2SP age.md, "ASCII armor"; RFC 7468, section 3).

/// Files that are armored, as `age -a` makes them; they can be read, not written.
package enum AgeArmor {
    private static let begin = Array("-----BEGIN AGE ENCRYPTED FILE-----".utf8)
    private static let end = Array("-----END AGE ENCRYPTED FILE-----".utf8)
    private static let whitespace: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]

    /// Whether the bytes begin as an armored file does; whitespace may stand before it.
    package static func isArmored(_ bytes: [UInt8]) -> Bool {
        bytes.drop { whitespace.contains($0) }.starts(with: begin.prefix(11))
    }

    /// The file in it.
    ///
    /// Lines end with LF or CRLF, all but the last have 64 characters, and only whitespace stands around them.
    package static func decode(_ bytes: [UInt8]) throws(AgeError) -> [UInt8] {
        func malformed(_ reason: String) -> AgeError { AgeError(.malformedArmor, "the age file's armor: \(reason)") }
        let trimmed = bytes.drop { whitespace.contains($0) }
        let kept = trimmed.prefix((trimmed.lastIndex { !whitespace.contains($0) } ?? -1) + 1 - trimmed.startIndex)
        var lines = kept.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for index in lines.indices.dropLast() where lines[index].last == UInt8(ascii: "\r") {
            lines[index].removeLast()
        }
        guard lines.count >= 2, lines.first?.elementsEqual(begin) == true else {
            throw malformed("its first line is wrong")
        }
        guard lines.last?.elementsEqual(end) == true else { throw malformed("its last line is missing or wrong") }
        let body = lines[1..<(lines.count - 1)]
        var decoded: [UInt8] = []
        for (index, line) in zip(body.indices, body) {
            let isLast = index == body.indices.last
            guard line.count == AgeHeader.columns || (isLast && !line.isEmpty && line.count < AgeHeader.columns),
                line.count % 4 == 0
            else { throw malformed("line \(index + 1) has the wrong length") }
            // Padding stands at the end of the last line only.
            let padding = line.reversed().prefix { $0 == UInt8(ascii: "=") }.count
            guard padding <= (isLast ? 2 : 0), let piece = Base64.decode(line.dropLast(padding)) else {
                throw malformed("line \(index + 1) is not canonical base64")
            }
            decoded += piece
        }
        return decoded
    }
}
