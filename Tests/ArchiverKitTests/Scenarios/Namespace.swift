// A place where an ordinary user may mount file systems and lower limits without anybody else being affected.

import Foundation
import Glibc
import SystemPackage

/// A user namespace with mounts and limits of its own (user_namespaces(7)), in which programs can be run.
///
/// It lasts as long as this object: the program that keeps it ends with its input.
final class Namespace {
    private let keeper: Program
    private let input: ClosedOnExec

    /// Whether this machine lets its users make any, and others in them.
    static let isPossible: Bool = {
        let script = "mount -t tmpfs tmpfs /tmp && \(limiting(to: 5)) && unshare -U --map-user=1 --map-group=1 true"
        let test = Process()
        test.executableURL = URL(filePath: "/usr/bin/env")
        test.arguments = ["unshare", "-Urm", "sh", "-c", script]
        test.standardError = FileHandle.nullDevice
        guard (try? test.run()) != nil else { return false }
        test.waitUntilExit()
        return test.terminationStatus == 0
    }()

    init() async throws {
        input = try ClosedOnExec()
        let words = ["unshare", "-Urm", "--propagation", "private", "sh", "-c", "echo ready && exec cat"]
        keeper = try Program(words, input: input.reader)
        try await keeper.line { $0 == "ready" }
    }

    /// What lets one have `count` watches of inotify and as many marks of fanotify, for a shell that may.
    static func limiting(to count: Int) -> String {
        "echo \(count) >/proc/sys/user/max_inotify_watches && echo \(count) >/proc/sys/user/max_fanotify_marks"
    }

    /// A command that runs another one as the user who runs the tests: within a further namespace, because only its root
    /// may lower a namespace's limits.
    static let asUser = ["unshare", "-U", "--map-user=\(geteuid())", "--map-group=\(getegid())"]

    /// `words` as they are to be run from outside, so that they run in here as its root.
    func entered(_ words: [String]) -> [String] {
        ["nsenter", "--preserve-credentials", "-U", "-m", "-t", "\(keeper.identifier)"] + words
    }

    /// How `path` is seen from outside, with what is mounted in here.
    func seen(_ path: FilePath) -> FilePath {
        FilePath("/proc/\(keeper.identifier)/root").pushing(FilePath(root: nil, path.components))
    }

    /// Limits what the programs in here can watch.
    func limit(to count: Int) async throws { try await run(["sh", "-c", Namespace.limiting(to: count)]) }

    /// Mounts a new file system in memory at `path`, or the directory `source`.
    func mount(_ source: FilePath?, at path: FilePath) async throws {
        let what = source.map { ["--bind", $0.string] } ?? ["-t", "tmpfs", "-o", "mode=755", "tmpfs"]
        try await run(["mount"] + what + [path.string])
    }

    /// Unmounts what is mounted at `path`; it fails while anybody holds something open in it.
    func unmount(_ path: FilePath) async throws { try await run(["umount", path.string]) }

    private func run(_ words: [String]) async throws {
        let (status, _) = try await Program(entered(words)).end()
        if status != 0 { throw Program.Ended(description: "\(words) ended with \(status)") }
    }
}
