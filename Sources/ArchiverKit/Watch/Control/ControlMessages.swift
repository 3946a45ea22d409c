// What is said between a running watcher and those who ask it: one line of JSON each way.

internal import ArchiveFormat
internal import Exclusions
internal import FileIO

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A question to the watcher of a root.
struct ControlRequest: Codable, Sendable {
    enum Action: String, Codable, Sendable {
        /// How is it?
        case status
        /// Look at everything.
        case audit
        /// Capture what has changed until now.
        case sync
        /// Capture what has changed until now, and mark that state.
        case mark
        /// Write down `text` about `snapshot`, or about the latest one.
        case note
        /// Tell of each snapshot from now on.
        case subscribe
        /// Take up the settings that are remembered, and `exclusions` where there are some.
        case configure
    }

    let action: Action
    /// Whether the answer is to tell of the other roots of the same process, too.
    var isForAll: Bool?
    /// What a mark is called.
    var name: String?
    /// The last snapshot that a subscriber knows, as hex digits.
    var after: String?
    /// What is left out from now on; nil to leave that as it is.
    var exclusions: ExclusionRules?
    /// What a note says.
    var text: String?
    /// The snapshot that a note is about, as hex digits.
    var snapshot: String?
}

/// The watcher's answer.
struct ControlResponse: Codable, Sendable {
    var status: WatcherStatus?
    /// The other roots of the process, where the question was for all.
    var others: [Other]?
    var audit: AuditResult?
    /// Whether everything that changed before the question is captured and durable.
    var isSynced: Bool?
    /// The operation that is the mark, as hex digits.
    var mark: String?
    /// The note that was written down, as hex digits.
    var note: String?
    /// Whether what was to be taken up is in force, and captured.
    var isConfigured: Bool?
    var failure: WatcherStatus.Trouble?

    /// Another root and its status.
    struct Other: Codable, Sendable {
        /// The root's path.
        let root: Data
        let status: WatcherStatus
    }

    /// To what is no question, or one of another version of the program.
    static let notUnderstood = ControlResponse(
        failure: WatcherStatus.Trouble(
            message: "the watcher does not understand the question",
            remedy: "end it and watch again, so that it runs this version of the program"))
}

/// Messages as lines.
enum ControlMessage {
    static func line(_ message: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(message)) }

    static func decode<Message: Decodable>(_ line: [UInt8]) throws -> Message {
        try JSONDecoder().decode(Message.self, from: Data(line))
    }
}
