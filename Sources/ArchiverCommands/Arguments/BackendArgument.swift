// How changes are noticed, on the command line.

internal import ArchiverKit
internal import ArgumentParser

/// The name of a watch backend.
enum BackendArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case auto, inotify, fanotify, poll

    var backend: WatchService.Backend { WatchService.Backend(rawValue: rawValue) ?? .auto }
}
