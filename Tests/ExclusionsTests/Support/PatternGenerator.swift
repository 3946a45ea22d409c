// Generates random names, patterns and ignore files, mostly patterns that match or nearly match a path of a tree.

import FileIO
import TestSupport

/// Generates the input for the comparison with git.
struct PatternGenerator {
    private(set) var random: SeededGenerator

    init(_ random: SeededGenerator) { self.random = random }

    mutating func below(_ limit: Int) -> Int { random.below(limit) }

    /// A name of one to four characters, half of them `a` or `b`.
    mutating func name() -> [UInt8] {
        while true {
            let name = (0...random.below(4)).flatMap { _ in character() }
            if RelativePath.isValidName(name) { return name }
        }
    }

    private mutating func character() -> [UInt8] {
        if random.oneIn(2) { return [random.oneIn(2) ? UInt8(ascii: "a") : UInt8(ascii: "b")] }
        let others = [
            "A", "c", ".", "-", "[", "]", "!", "#", "*", "?", "\\", " ", "^", ":", "~", "0", "\n", "\t", "\r", "é",
        ]
        return random.oneIn(20) ? [0xff] : Array(others[random.below(others.count)].utf8)
    }

    /// A pattern similar to one of `paths`, or sometimes a random one.
    mutating func pattern(like paths: [RelativePath]) -> [UInt8] {
        while true {
            let pattern = random.oneIn(10) ? noise() : likeness(of: paths[random.below(paths.count)])
            if !pattern.contains(UInt8(ascii: "\n")), !Self.meansOtherwiseToOlderGit(pattern) { return pattern }
        }
    }

    /// An ignore file with a few lines.
    mutating func ignoreFile(like paths: [RelativePath]) -> [UInt8] {
        var text: [UInt8] = random.oneIn(8) ? [0xef, 0xbb, 0xbf] : []
        for _ in 0...random.below(8) {
            switch random.below(20) {
            case 0: text += Array("# a".utf8)
            case 1: text += Array("  ".utf8)
            case 2: break
            default: text += pattern(like: paths)
            }
            if random.oneIn(12) { text += Array(" ".utf8) }
            if random.oneIn(30) { text += [0] + Array("a".utf8) }
            if random.oneIn(12) { text.append(UInt8(ascii: "\r")) }
            text.append(UInt8(ascii: "\n"))
        }
        if random.oneIn(4) { text.removeLast() }
        return text
    }

    /// Any characters, most of them special.
    private mutating func noise() -> [UInt8] {
        let characters = Array("aab**??[[]]!^\\\\//-:. #".utf8)
        return (0...random.below(8)).map { _ in characters[random.below(characters.count)] }
    }

    private mutating func likeness(of path: RelativePath) -> [UInt8] {
        let components = path.components.suffix(random.oneIn(3) ? 4 : 1 + random.below(2))
        var pattern = [UInt8]()
        for component in components {
            if !pattern.isEmpty { pattern += Array((random.oneIn(20) ? "\\/" : "/").utf8) }
            pattern += likeness(of: component)
            if random.oneIn(10) { pattern += Array("/**".utf8) }
        }
        let prefixes = ["/", "/", "**/", "!", "!", "!/", "!**/", "*", "/*/"]
        if random.oneIn(2) { pattern = Array(prefixes[random.below(prefixes.count)].utf8) + pattern }
        let suffixes = ["/", "/", "/*", "/**", "*", "//", "\\"]
        if random.oneIn(3) { pattern += Array(suffixes[random.below(suffixes.count)].utf8) }
        return pattern
    }

    private mutating func likeness(of name: ArraySlice<UInt8>) -> [UInt8] {
        switch random.below(16) {
        case 0: return Array("*".utf8)
        case 1: return Array("**".utf8)
        case 2: return Array("***".utf8)
        default: return name.flatMap { likeness(of: $0) }
        }
    }

    private mutating func likeness(of byte: UInt8) -> [UInt8] {
        switch random.below(24) {
        case 0, 1: return Array("?".utf8)
        case 2, 3: return Array("*".utf8)
        case 4: return [byte] + Array((random.oneIn(2) ? "*" : "**").utf8)
        case 5, 6, 7: return bracketExpression(holding: byte)
        case 8: return noise()
        case 9: return []
        case 10: return [UInt8(ascii: "\\"), byte]
        default: return Array("*?[\\! #".utf8).contains(byte) && !random.oneIn(4) ? [UInt8(ascii: "\\"), byte] : [byte]
        }
    }

    private mutating func bracketExpression(holding byte: UInt8) -> [UInt8] {
        var expression = Array("[".utf8)
        if random.oneIn(3) { expression += Array((random.oneIn(2) ? "!" : "^").utf8) }
        let classes = [
            "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        ]
        for _ in 0...random.below(3) {
            switch random.below(8) {
            case 0: expression += Array("[:\(classes[random.below(classes.count)]):]".utf8)
            case 1: expression += Array("a-c".utf8)
            case 2: expression += [UInt8(ascii: "\\"), byte]
            case 3: expression += [byte &- 1, UInt8(ascii: "-"), byte &+ 1]
            case 4: expression += noise()
            default: expression.append(byte)
            }
        }
        return expression.filter { $0 != 0 } + Array((random.oneIn(16) ? "" : "]").utf8)
    }

    /// Whether two asterisks or more follow a literal beginning that does not end with `/`.
    ///
    /// Before version 2.52 git ignored that beginning and treated the asterisks as a component of their own.
    private static func meansOtherwiseToOlderGit(_ pattern: [UInt8]) -> Bool {
        var rest = pattern.first == UInt8(ascii: "!") ? pattern.dropFirst() : pattern[...]
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        let literal = rest.prefix { !Array("*?[\\".utf8).contains($0) }
        guard let last = literal.last, last != UInt8(ascii: "/") else { return false }
        return rest.dropFirst(literal.count).starts(with: Array("**".utf8))
    }
}
