// The report for a bug: what the program and this machine are like, without contents, and without names unless asked.

internal import ArchiveFormat
internal import ArchiverKit
internal import Configuring
internal import FileIO
internal import Glibc
internal import Logging
internal import SystemPackage
internal import WatchControl

/// The text of `doctor --report`.
struct DoctorReport {
    let findings: [DoctorFinding]
    let global: GlobalOptions
    let place: SystemOption
    /// Whether names of directories and files may be in it.
    let isNamed: Bool

    private let privacy = PrivateFields()

    /// Topics of findings whose text names no file.
    private static let harmless: Set = [
        "kernel", "open files", "size", "watches", "instances", "queue", "fanotify", "disk",
    ]
    /// Configured texts that name no file.
    private static let harmlessKeys: Set = [
        "policy", "each", "minutely", "hourly", "daily", "weekly", "max-size", "min-free", "exclude-larger-than",
        "settle", "max-delay", "audit-interval", "large-file", "large-file-delay",
    ]
    /// A command may hold a password, so it is never shown.
    private static let secretKeys: Set = ["on-event"]

    init(_ findings: [DoctorFinding], _ global: GlobalOptions, _ place: SystemOption, isNamed: Bool) {
        self.findings = findings
        self.global = global
        self.place = place
        self.isNamed = isNamed
    }

    var text: String {
        let head = isNamed ? "It names directories and files." : "Names of directories and files are left out."
        let parts = [
            ("archiver: report of \(Timestamp.now.rfc3339)", [head, "It holds no contents of files."]),
            ("Program", program), ("Findings", findings.map(line)), ("Configuration", configuration),
            ("Status", status), ("Latest events of the service", events),
        ]
        return parts.map { "\($0)\n" + $1.map { "  " + $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    private var program: [String] {
        var system = utsname()
        uname(&system)
        func text<Characters>(_ characters: Characters) -> String {
            withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let known = ["ARCHIVER_ARCHIVE", "ARCHIVER_MACHINE_ID"] + UnitFile.homes
        let variables = known.filter { (name: String) in getenv(name) != nil }
        return [
            "archiver \(ArchiverCommand.version)",
            "\(text(system.sysname)) \(text(system.release)) \(text(system.machine))",
            "user: \(CurrentProcess.isRoot ? "root" : "not root")",
            "variables set: \(variables.isEmpty ? "none" : variables.joined(separator: ", "))",
        ]
    }

    private func line(_ finding: DoctorFinding) -> String {
        let start = "\(finding.verdict.rawValue) \(finding.topic)"
        guard isNamed || DoctorReport.harmless.contains(finding.topic) else { return start }
        return "\(start): \(Escaping.text(finding.message))"
    }

    private var configuration: [String] {
        let configuration: ServiceConfiguration
        do throws(ArchiverError) { configuration = try ServiceConfiguration(place.file) } catch {
            return [isNamed ? Escaping.text(error.message) : "it cannot be used"]
        }
        let document = configuration.document
        var lines: [String] = []
        func add(_ table: ConfigurationTable?, _ name: String) {
            for entry in table?.entries ?? [] {
                lines.append((name.isEmpty ? "" : name + " ") + "\(entry.key): \(value(entry))")
            }
        }
        add(document.top, "")
        add(document.keep, "keep")
        add(document.budget, "budget")
        for (index, root) in document.roots.enumerated() {
            add(root.table, "root \(index + 1)")
            add(root.keep, "root \(index + 1) keep")
        }
        return lines.isEmpty ? ["nothing is configured"] : lines
    }

    private func value(_ entry: ConfigurationEntry) -> String {
        if DoctorReport.secretKeys.contains(entry.key) { return "(set)" }
        let isShown = isNamed || DoctorReport.harmlessKeys.contains(entry.key)
        return switch entry.value {
        case .flag(let flag): "\(flag)"
        case .text(let text): isShown ? Escaping.text(text) : "(set)"
        case .texts(let texts): isShown ? Escaping.text(texts.joined(separator: ", ")) : "(\(texts.count) set)"
        }
    }

    private var status: [String] {
        do throws(ArchiverError) {
            let archive = try global.openArchive(reportsFindings: false)
            let fields = LogFields(ArchiveStatusJSON(try archive.status())).all
            return fields.sorted { $0.key < $1.key }.compactMap { key, value in
                (isNamed ? value : privacy.value(key, value)).map { "\(key): \(Escaping.text("\($0)"))" }
            }
        } catch {
            return [isNamed ? Escaping.text(error.message) : "the archive cannot be opened: \(error.code.rawValue)"]
        }
    }

    private var events: [String] {
        let lines = (try? ServicePlace(place.file).log()).flatMap { $0 }
        return lines ?? ["no service runs"]
    }
}
