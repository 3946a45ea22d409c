// Writes log entries as lines: for journald with a priority, elsewhere with a time and a level.

internal import ArchiveFormat
internal import ArchiverKit
internal import CLinux
internal import FileIO
internal import Glibc
internal import Logging
internal import SystemPackage

/// A handler that writes each entry as one line.
struct LineLogHandler: LogHandler {
    enum Form: Sendable {
        /// "<4>gap root=/home/ann cause=overflow" (sd-daemon(3)): the journal adds the time.
        case journal
        /// "2026-11-21T10:15:30.123Z warning gap root=/home/ann cause=overflow".
        case file
    }

    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level
    private let form: Form
    /// Decides at each entry whether names are left out.
    private let privacy: @Sendable () -> PrivateFields?
    private let write: @Sendable (String) -> Void

    init(
        _ form: Form, from level: Logger.Level, privacy: @escaping @Sendable () -> PrivateFields?,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.form = form
        logLevel = level
        self.privacy = privacy
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let privacy = privacy()
        var line =
            switch form {
            case .journal: "<\(LineLogHandler.priority(event.level))>"
            case .file: "\(Timestamp.now.rfc3339) \(event.level.rawValue) "
            }
        line += "\(event.message)"
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard let value = privacy.map({ $0.value(key, value) }) ?? value else { continue }
            line += " \(key)=\(LineLogHandler.text(value))"
        }
        write(line)
    }

    /// A value as one word, or in quotes as JSON has it, so that no name can forge a line or a field.
    private static func text(_ value: Logger.MetadataValue) -> String {
        let text = "\(value)"
        let isWord = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3d && $0 != 0x5c && $0 < 0x7f }
        if isWord, !text.isEmpty { return text }
        // Other control characters, such as those of C1, which JSON leaves alone, could steer a terminal.
        return (try? JSONText.of(Escaping.text(text))) ?? "\"\""
    }

    /// The priorities of syslog(3).
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// A file that lines are appended to; opened for each one, so that it may be renamed or removed at any time.
struct LogFile: Sendable {
    let path: FilePath

    /// - Throws: `FileError` if it cannot be written, or is not a regular file.
    func append(_ line: String) throws(FileError) {
        let number = retryingInterrupts {
            path.withPlatformString {
                clinux_openat(AT_FDCWD, $0, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
            }
        }
        if number < 0 { throw FileError("open the log file", path, .current) }
        let file = Descriptor(owning: number)
        guard try FileStatus.read(file).kind == .file else {
            throw FileError("write the log file", path, .invalidArgument)
        }
        try file.write(Array((line + "\n").utf8), path: path)
    }
}
