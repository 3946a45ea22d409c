// The result of an examination.

/// The result of examining one thing.
public struct DoctorFinding: Sendable, Hashable {
    /// How a finding is judged.
    public enum Verdict: String, Sendable, Hashable {
        /// As it should be.
        case good
        /// Worth knowing.
        case note
        /// Something will not work, or not well.
        case bad
    }

    /// The thing examined, in a word: "kernel", "watches", "disk".
    public let topic: String
    /// How it is judged.
    public let verdict: Verdict
    /// What was found, in one line.
    public let message: String
    /// What to do about it.
    public let remedy: String?

    init(_ topic: String, _ verdict: Verdict, _ message: String, remedy: String? = nil) {
        self.topic = topic
        self.verdict = verdict
        self.message = message
        self.remedy = remedy
    }
}
