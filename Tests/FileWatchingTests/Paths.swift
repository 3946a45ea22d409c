// Paths as string literals in tests.

public import FileIO
import FileWatching

extension RelativePath: ExpressibleByStringLiteral {
    public init(stringLiteral string: String) {
        self.init(unchecked: Array(string.utf8))
    }
}
