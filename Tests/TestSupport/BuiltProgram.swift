// Where the tests find the programs that they run.

import Foundation

/// The programs of the package as tests start them.
public enum BuiltProgram {
    /// The variable that names the `archiver` to be tested: `make test` sets it to the release binary, which is what ships.
    public static let variable = "ARCHIVER_BINARY"

    /// The path of the program `name`: of `archiver` the one that the variable names, of all others, and where it is not
    /// set, the one beside the test bundle.
    public static func path(of name: String) -> String {
        if name == "archiver", let named = ProcessInfo.processInfo.environment[variable], !named.isEmpty {
            return URL(filePath: named).path(percentEncoded: false)
        }
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name).path(percentEncoded: false)
    }
}
