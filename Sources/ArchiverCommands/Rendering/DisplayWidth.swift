// The width of text on a terminal in columns, independent of the locale.

/// Columns of text on a terminal: two for East Asian wide characters and emoji, one for others.
enum DisplayWidth {
    /// The columns of `text`; colours (`ESC [ … m`) take none.
    static func of(_ text: String) -> Int {
        var (columns, isInColour) = (0, false)
        for character in text {
            if character == "\u{1B}" { isInColour = true }
            if !isInColour { columns += width(character) }
            if character == "m" { isInColour = false }
        }
        return columns
    }

    /// The text, cut with a final `…` if it is wider than `columns`.
    static func cut(_ text: String, to columns: Int) -> String {
        if of(text) <= columns { return text }
        var cut = ""
        var used = 1
        for character in text {
            used += width(character)
            if used > columns { break }
            cut.append(character)
        }
        return columns > 0 ? cut + "…" : ""
    }

    private static func width(_ character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        // The blocks whose characters are all wide (Unicode Standard Annex #11).
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
