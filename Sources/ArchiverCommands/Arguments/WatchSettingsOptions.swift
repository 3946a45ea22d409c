// How a root is watched, as the command line says it.

internal import ArchiverKit
internal import ArgumentParser

/// Options of the commands that say how a root is watched.
struct WatchSettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Capture once nothing has changed for this long (default: 100ms).", valueName: "duration"))
    var settle: DurationArgument?

    @Option(
        help: ArgumentHelp("Capture at the latest this long after a change (default: 2s).", valueName: "duration"))
    var maxDelay: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Compare everything this often, to catch missed events; 0s for never (default: 1h).",
            valueName: "duration"))
    var auditInterval: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Capture files from this size on separately, less often if they always change; 0 for none (default: 512M).",
            valueName: "size"))
    var largeFile: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Capture such a file at the latest this long after a change (default: 5m).", valueName: "duration"))
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
