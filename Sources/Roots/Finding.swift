// What status and watchers report when something is wrong.

/// Something that is not as it should be, and what to do about it.
public struct Finding: Codable, Sendable, Hashable {
    public let message: String
    public let remedy: String?

    public init(_ message: String, remedy: String? = nil) {
        self.message = message
        self.remedy = remedy
    }

    package init(_ error: ArchiverError) { self.init(error.message, remedy: error.remedy) }
}
