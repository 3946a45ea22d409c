// A root's timing settings as text.

internal import ArchiverKit

enum WatchSettingsText {
    /// "settle 5s, max delay 1m, no audits"; nil for the default settings.
    static func text(_ settings: WatchSettings) -> String? {
        let audits = settings.auditInterval.map {
            $0 == .zero ? "no audits" : "audit every \(DurationArgument.text($0))"
        }
        let parts = [
            settings.settle.map { "settle \(DurationArgument.text($0))" },
            settings.maxDelay.map { "max delay \(DurationArgument.text($0))" }, audits,
            settings.largeFile.map { $0 == 0 ? "no large files" : "large files from \(ByteCount.text($0)) on" },
            settings.largeFileDelay.map { "large file delay \(DurationArgument.text($0))" },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The remark before `directory` is watched: remembered settings that no option changes; nil if there are none.
    static func remark(_ directory: [UInt8], given: WatchSettings, remembered: WatchSettings) -> String? {
        var kept = remembered
        if given.settle != nil { kept.settle = nil }
        if given.maxDelay != nil { kept.maxDelay = nil }
        if given.auditInterval != nil { kept.auditInterval = nil }
        if given.largeFile != nil { kept.largeFile = nil }
        if given.largeFileDelay != nil { kept.largeFileDelay = nil }
        return text(kept).map {
            "\(Escaping.text(directory)): as before, \($0); 'archiver roots set' changes this"
        }
    }
}
