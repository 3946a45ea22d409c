// A user namespace, in which an ordinary user may mount file systems and lower limits without affecting anyone else.

import Foundation
import Glibc
import SystemPackage
import TestSupport

/// A user namespace with its own mounts and limits (user_namespaces(7)), in which programs can be run.
///
/// It exists as long as this object: the program that holds it ends when its input does.
final class Namespace {
    private let keeper: Program
    private let input: ClosedOnExec

    /// Whether this machine lets its users create user namespaces, also nested ones.
    static let isPossible: Bool = {
        let script = "mount -t tmpfs tmpfs /tmp && \(limiting(to: 5)) && unshare -U --map-user=1 --map-group=1 true"
        return (try? ChildProcess.run(["unshare", "-Urm", "sh", "-c", script]))?.status == 0
    }()

    init() async throws {
        input = try ClosedOnExec()
        let words = ["unshare", "-Urm", "--propagation", "private", "sh", "-c", "echo ready && exec cat"]
        keeper = try Program(words, input: input.reader)
        try await keeper.line { $0 == "ready" }
    }

    /// A shell command that limits a user to `count` inotify watches and `count` fanotify marks, for a shell that may
    /// do so.
    static func limiting(to count: Int) -> String {
        "echo \(count) >/proc/sys/user/max_inotify_watches && echo \(count) >/proc/sys/user/max_fanotify_marks"
    }

    /// A command prefix that runs a command as the user who runs the tests.
    ///
    /// It uses a nested namespace, because only the root of a namespace may lower its limits.
    static let asUser = ["unshare", "-U", "--map-user=\(geteuid())", "--map-group=\(getegid())"]

    /// `words` as a command line that runs them in this namespace as its root.
    func entered(_ words: [String]) -> [String] {
        ["nsenter", "--preserve-credentials", "-U", "-m", "-t", "\(keeper.identifier)"] + words
    }

    /// The path by which `path` can be reached from outside, including mounts in the namespace.
    func seen(_ path: FilePath) -> FilePath {
        FilePath("/proc/\(keeper.identifier)/root").pushing(FilePath(root: nil, path.components))
    }

    /// Limits what the programs in the namespace can watch.
    func limit(to count: Int) async throws { try await run(["sh", "-c", Namespace.limiting(to: count)]) }

    /// Mounts a new file system in memory, or the directory `source`, at `path`.
    func mount(_ source: FilePath?, at path: FilePath) async throws {
        let what = source.map { ["--bind", $0.string] } ?? ["-t", "tmpfs", "-o", "mode=755", "tmpfs"]
        try await run(["mount"] + what + [path.string])
    }

    /// Unmounts the file system at `path`; tries again for a while, as a capture may have a file in it open.
    func unmount(_ path: FilePath) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do { return try await run(["umount", path.string]) } catch {
                if .now > end { throw error }
            }
        }
    }

    private func run(_ words: [String]) async throws {
        let (status, _) = try await Program(entered(words)).end()
        if status != 0 { throw Program.Ended(description: "\(words) ended with \(status)") }
    }
}
