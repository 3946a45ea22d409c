// Warnings, findings of doctor, related roots and the version as JSON.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// A warning as `--json` shows it: `{"warning": {"kind": …, "message": …}}`.
struct WarningJSON: Encodable {
    let kind: String
    let message: String
    let remedy: String?

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        var warning = object.nestedContainer(keyedBy: JSONKey.self, forKey: .warning)
        try warning.encode(kind, forKey: .kind)
        try warning.encode(message, forKey: .message)
        try warning.encode(remedy, forKey: .remedy)
    }
}

extension WarningJSON {
    init(_ finding: ArchiveFinding) {
        self.init(kind: finding.kind.rawValue, message: finding.message, remedy: CommandRemedy.text(finding.remedy))
    }
}

/// A finding as JSON.
struct DoctorFindingJSON: Encodable {
    let topic: String
    let verdict: String
    let message: String
    let remedy: String?

    init(_ finding: DoctorFinding) {
        topic = finding.topic
        verdict = finding.verdict.rawValue
        message = finding.message
        remedy = CommandRemedy.text(finding.remedy)
    }
}

/// The output of `--version --json`.
struct VersionJSON: Encodable {
    let name = "archiver"
    let version = ArchiverCommand.version
}

/// A related root: `{"path": "/old", "host": "here", "machine": "…", "relation": "moved"}`.
struct RelatedRootJSON: Encodable {
    let related: RelatedRoot

    init(_ related: RelatedRoot) { self.related = related }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try encode(into: &object)
    }

    func encode(into object: inout KeyedEncodingContainer<JSONKey>) throws {
        try object.encode(bytes: related.root.path.bytes, forKey: .path)
        try object.encode(related.root.host, forKey: .host)
        try object.encode(related.root.machine.hex, forKey: .machine)
        try object.encode(related.relation.rawValue, forKey: .relation)
    }
}
