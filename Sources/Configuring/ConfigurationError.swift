// The error of a configuration file: it names the file and the line, and says what to do.

internal import FileIO
package import SystemPackage

/// A configuration file that cannot be used.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package let file: FilePath
    /// The line, from 1; nil if the whole file is meant.
    package let line: Int?
    /// What is wrong, to follow the place.
    package let reason: String
    /// What to do about it.
    package var remedy: String?
    /// The unknown key, and those that may stand in its place.
    package var unknown: (word: String, known: [String])?

    package init(
        _ file: FilePath, line: Int?, _ reason: String, remedy: String? = nil,
        unknown: (word: String, known: [String])? = nil
    ) {
        self.file = file
        self.line = line
        self.reason = reason
        self.remedy = remedy
        self.unknown = unknown
    }

    /// "/home/ann/.config/archiver/config.toml:12: unknown key 'setle'".
    package var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}
