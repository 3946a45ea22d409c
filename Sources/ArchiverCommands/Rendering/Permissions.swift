// Permission bits as octal digits and as in `ls -l`.

/// Texts for the 12 permission bits.
enum Permissions {
    /// "0644", "4755".
    static func octal(_ bits: UInt16) -> String {
        let digits = String(bits, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// "rw-r--r--", "rwsr-xr-t" (ls(1), POSIX).
    static func letters(_ bits: UInt16) -> String {
        var text = ""
        let special: [(bit: UInt16, small: Character, large: Character)] = [
            (0o4000, "s", "S"), (0o2000, "s", "S"), (0o1000, "t", "T"),
        ]
        for (place, special) in zip([6, 3, 0], special) {
            let three = bits >> UInt16(place)
            let runs = three & 1 != 0
            text.append(three & 4 != 0 ? "r" : "-")
            text.append(three & 2 != 0 ? "w" : "-")
            text.append(bits & special.bit != 0 ? (runs ? special.small : special.large) : runs ? "x" : "-")
        }
        return text
    }
}
