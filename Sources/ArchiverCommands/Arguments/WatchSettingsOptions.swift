// The options that set when a watcher captures a root.

public import ArchiverKit
public import ArgumentParser

/// Timing options of `watch` and `roots set`.
struct WatchSettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Capture once nothing has changed for this long (default: 100ms).", valueName: "duration"))
    var settle: DurationArgument?

    @Option(
        help: ArgumentHelp("Capture at the latest this long after a change (default: 2s).", valueName: "duration"))
    var maxDelay: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Compare all files this often, to catch missed events; 0s for never (default: 1h).",
            valueName: "duration"))
    var auditInterval: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Capture files of at least this size separately, and less often if they always change; 0 for none "
                + "(default: 512M).",
            valueName: "size"))
    var largeFile: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Capture a large file at the latest this long after a change (default: 5m).", valueName: "duration"))
    var largeFileDelay: DurationArgument?

    func validate() throws {
        if let settle, let maxDelay, settle.duration > maxDelay.duration {
            throw ValidationError("--settle must not exceed --max-delay")
        }
    }

    var settings: WatchSettings {
        WatchSettings(
            settle: settle?.duration, maxDelay: maxDelay?.duration, auditInterval: auditInterval?.duration,
            largeFile: largeFile?.bytes, largeFileDelay: largeFileDelay?.duration)
    }
}

extension WatchBackend: ExpressibleByArgument {}
