// How a root is watched, as the command line says it.

internal import ArchiverKit
internal import ArgumentParser

/// Options of the commands that say how a root is watched.
struct WatchSettingsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How long nothing must change before a capture (usually 100ms).", valueName: "duration"))
    var settle: DurationArgument?

    @Option(
        help: ArgumentHelp("How long after a change a capture may wait for that (usually 2s).", valueName: "duration"))
    var maxDelay: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How often everything is compared all the same; 0s for never (usually 1h).", valueName: "duration"))
    var auditInterval: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Files of this size are captured on their own, less often if they change all the time; 0 for none (usually 512M).",
            valueName: "size"))
    var largeFile: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "How long after a change such a file may wait to be captured (usually 5m).", valueName: "duration"))
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
