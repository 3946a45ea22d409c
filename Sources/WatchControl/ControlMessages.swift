// What is said between a running watcher and those who ask it: one line of JSON each way.

internal import ArchiveFormat
package import Exclusions
internal import FileIO
package import Roots
package import SystemPackage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
internal import Foundation
#endif

/// A question to the watcher of a root.
package struct ControlRequest: Codable, Sendable {
    package enum Action: String, Codable, Sendable {
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

    package let action: Action
    /// Whether the answer is to tell of the other roots of the same process, too.
    package var isForAll: Bool?
    /// What a mark is called.
    package var name: String?
    /// The last snapshot that a subscriber knows, as hex digits.
    package var after: String?
    /// What is left out from now on; nil to leave that as it is.
    package var exclusions: ExclusionRules?
    /// What a note says.
    package var text: String?
    /// The snapshot that a note is about, as hex digits.
    package var snapshot: String?

    package init(action: Action) { self.action = action }
}

/// The watcher's answer.
package struct ControlResponse: Codable, Sendable {
    package var status: WatcherStatus?
    /// The other roots of the process, where the question was for all.
    package var others: [Other]?
    package var audit: AuditResult?
    /// Whether everything that changed before the question is captured and durable.
    package var isSynced: Bool?
    /// The operation that is the mark, as hex digits.
    package var mark: String?
    /// The note that was written down, as hex digits.
    package var note: String?
    /// Whether what was to be taken up is in force, and captured.
    package var isConfigured: Bool?
    package var failure: WatcherStatus.Trouble?

    /// Another root and its status.
    package struct Other: Codable, Sendable {
        /// The root's path.
        package let root: Data
        package let status: WatcherStatus

        package init(root: FilePath, status: WatcherStatus) {
            self.root = Data(root.bytes)
            self.status = status
        }
    }

    package init(
        status: WatcherStatus? = nil, others: [Other]? = nil, audit: AuditResult? = nil, isSynced: Bool? = nil,
        mark: String? = nil, note: String? = nil, isConfigured: Bool? = nil, failure: WatcherStatus.Trouble? = nil
    ) {
        self.status = status
        self.others = others
        self.audit = audit
        self.isSynced = isSynced
        self.mark = mark
        self.note = note
        self.isConfigured = isConfigured
        self.failure = failure
    }

    package init(failure: ArchiverError) { self.init(failure: WatcherStatus.Trouble(failure)) }

    /// To what is no question, or one of another version of the program.
    package static let notUnderstood = ControlResponse(
        failure: WatcherStatus.Trouble(
            message: "the watcher does not understand the question",
            remedy: "end it and watch again, so that it runs this version of the program"))
}

/// Messages as lines.
package enum ControlMessage {
    package static func line(_ message: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(message)) }

    package static func decode<Message: Decodable>(_ line: [UInt8]) throws -> Message {
        try JSONDecoder().decode(Message.self, from: Data(line))
    }
}
