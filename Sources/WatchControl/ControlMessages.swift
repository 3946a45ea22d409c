// The messages between a running watcher and its clients: one line of JSON each way.

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

/// A request to the watcher of a root.
package struct ControlRequest: Codable, Sendable {
    package enum Action: String, Codable, Sendable {
        /// Report the status.
        case status
        /// Run an audit.
        case audit
        /// Capture all changes until now.
        case sync
        /// Capture all changes until now, and mark that state.
        case mark
        /// Add the note `text` about `snapshot`, or about the latest one.
        case note
        /// Send each new snapshot.
        case subscribe
        /// Apply the remembered settings, and `exclusions` if given.
        case configure
        /// Read the configuration file again; only the service understands it.
        case reload
        /// Send the latest lines of the log, without names; only the service understands it.
        case log
    }

    package let action: Action
    /// Whether the answer should include the other roots of the same process.
    package var isForAll: Bool?
    /// The name of a mark.
    package var name: String?
    /// The last snapshot that a subscriber knows, as hex digits.
    package var after: String?
    /// The exclusion rules from now on; nil for no change.
    package var exclusions: ExclusionRules?
    /// The text of a note.
    package var text: String?
    /// The snapshot that a note is about, as hex digits.
    package var snapshot: String?

    package init(action: Action) { self.action = action }
}

/// A request that was answered.
package struct AnsweredRequest: Sendable {
    package let root: FilePath
    package let action: ControlRequest.Action
    /// How long it took.
    package let time: Duration
    /// Why it could not be done.
    package let failure: String?

    package init(root: FilePath, action: ControlRequest.Action, time: Duration, failure: String?) {
        (self.root, self.action, self.time, self.failure) = (root, action, time, failure)
    }
}

/// The watcher's answer.
package struct ControlResponse: Codable, Sendable {
    package var status: WatcherStatus?
    /// The other roots of the process, if the request asked for all.
    package var others: [Other]?
    package var audit: AuditResult?
    /// Whether everything that changed before the request is captured and durable.
    package var isSynced: Bool?
    /// The operation that is the mark, as hex digits.
    package var mark: String?
    /// The new note, as hex digits.
    package var note: String?
    /// Whether the settings are in force, and newly included files are captured.
    package var isConfigured: Bool?
    /// What a reload has changed, in a sentence.
    package var reloaded: String?
    /// The latest lines of the log.
    package var log: [String]?
    package var failure: Finding?

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
        mark: String? = nil, note: String? = nil, isConfigured: Bool? = nil, failure: Finding? = nil
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

    package init(reloaded: String) {
        self.init()
        self.reloaded = reloaded
    }

    package init(log: [String]) {
        self.init()
        self.log = log
    }

    package init(failure: ArchiverError) { self.init(failure: Finding(failure)) }

    /// The answer to an invalid request, or to one of another version of the program.
    package static let notUnderstood = ControlResponse(
        failure: Finding(
            "the watcher does not understand the request",
            remedy: "end it and watch again, so that it runs this version of the program"))
}

/// Messages as lines.
package enum ControlMessage {
    package static func line(_ message: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(message)) }

    package static func decode<Message: Decodable>(_ line: [UInt8]) throws -> Message {
        try JSONDecoder().decode(Message.self, from: Data(line))
    }
}
