// What status and watchers report when something is wrong.

/// Something that is not as it should be, and what to do about it.
public struct Finding: Codable, Sendable, Hashable {
    /// What was found, in one line.
    public let message: String
    /// What to do about it, in one line.
    public let remedy: String?

    /// A finding with the texts that a user will read.
    public init(_ message: String, remedy: String? = nil) {
        self.message = message
        self.remedy = remedy
    }

    package init(_ error: ArchiverError) { self.init(error.message, remedy: error.remedy) }
}
