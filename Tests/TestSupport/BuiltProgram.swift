// Finds the programs that tests run.

import Foundation

/// The package's programs for use in tests.
public enum BuiltProgram {
    /// The variable that names an optimised `archiver` to test: `make test-all` sets it to the one that is shipped.
    public static let variable = "ARCHIVER_BINARY"

    /// The path of the program `name`.
    ///
    /// For `archiver` this is the value of the variable. For other programs, and if the variable is not set, it is the
    /// program beside the test bundle.
    public static func path(of name: String) -> String {
        if name == "archiver", let named = ProcessInfo.processInfo.environment[variable], !named.isEmpty {
            return URL(filePath: named).path(percentEncoded: false)
        }
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name).path(percentEncoded: false)
    }
}
