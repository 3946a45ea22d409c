// Patterns given on the command line: paths become patterns relative to the root, and what matches nothing is refused.

import Exclusions
import Testing

@Suite("Given patterns")
struct GivenPatternTests {
    private static func understood(
        _ given: String, root: String = "/home/ann/thesis", names: Set<String> = []
    ) throws(GivenPattern.Fault) -> String {
        let pattern = try GivenPattern(Array(given.utf8), root: Array(root.utf8), home: Array("/home/ann".utf8)) {
            names.contains(String(decoding: $0, as: UTF8.self))
        }
        return String(decoding: pattern.bytes, as: UTF8.self)
    }

    @Test(
        "a path of the root becomes a pattern that is anchored at its top",
        arguments: [
            ("./temporary", "/temporary"), ("././a/./b/", "/a/b/"), ("!./keep", "!/keep"), ("a//b", "a/b"),
            ("~/thesis/build", "/build"), ("/home/ann/thesis/build/", "/build/"), ("!/home/ann/thesis/x", "!/x"),
            ("*.o", "*.o"), ("/build/", "/build/"), ("build/", "build/"), ("a/**", "a/**"), ("/home/bob", "/home/bob"),
            ("/home/ann/thesis2/x", "/home/ann/thesis2/x"), ("a\\[b", "a\\[b"),
        ])
    func understood(given: String, pattern: String) throws {
        #expect(try Self.understood(given) == pattern)
    }

    @Test("a pattern that a name in the root can match is left as it is")
    func literal() throws {
        #expect(try Self.understood("/home/ann/thesis/x", names: ["home"]) == "/home/ann/thesis/x")
        #expect(try Self.understood("~/x", names: ["~"]) == "~/x")
        #expect(try Self.understood("/etc/x", root: "/") == "/etc/x")
    }

    @Test("a pattern that can match nothing is refused with one that can")
    func refused() {
        func fault(_ given: String) -> GivenPattern.Fault? {
            do { _ = try Self.understood(given) } catch { return error }
            return nil
        }
        #expect(fault("a[b") == .init(reason: .openBracket, suggestion: Array("a\\[b".utf8)))
        #expect(fault("a\\") == .init(reason: .lastBackslash, suggestion: Array("a\\\\".utf8)))
        #expect(fault("~/other") == .init(reason: .outside, suggestion: Array("\\~/other".utf8)))
        #expect(fault("../x") == .init(reason: .outside, suggestion: nil))
        for given in [".", "./", "/home/ann/thesis", "~/thesis/", ""] {
            #expect(fault(given) == .init(reason: .wholeRoot, suggestion: Array("/*".utf8)), "\(given)")
        }
    }
}
