// `archiver watch` with an archive that disappears, returns, or is replaced.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct WatchArchiveTests {
    private func watching(_ work: Workplace) throws -> ChildProcess {
        let process = try work.start("watch", work.root.string, "--json", "--settle", "1ms", "--time-scale", "100")
        _ = try process.line { $0.contains("\"event\":\"watching\"") }
        return process
    }

    private func shell(_ work: Workplace, _ script: String) throws {
        let outcome = try ChildProcess.run(
            "sh", ["-c", script].map { Array($0.utf8) }, environment: ["ARCHIVE": work.archive.string])
        #expect(outcome.status == 0, "\(outcome.errorText)")
    }

    /// Waits for a snapshot in the archive in which `new` has `content`.
    ///
    /// A watcher that finds another archive may capture the tree before `new` is written, so earlier snapshots can lack
    /// it.
    private func expectSnapshot(
        _ work: Workplace, _ process: ChildProcess, _ content: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        while true {
            let event = try JSON.object(process.line { $0.contains("\"event\":\"snapshot\"") })
            let id = try #require(event["id"] as? String, sourceLocation: sourceLocation)
            #expect(try work.run("cat", "\(id):notes/todo.txt").text == "one\ntwo\n", sourceLocation: sourceLocation)
            let new = try work.run("cat", "\(id):new")
            if new.text == content { return }
            try #require(new.errorText.contains("new"), "\(new.errorText)", sourceLocation: sourceLocation)
            #expect(new.status == 1, "\(new.errorText)", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "a missing archive is reported once, nothing is announced while it is away, and capturing resumes afterwards")
    func gone() throws {
        let work = try Workplace()
        let process = try watching(work)
        try shell(work, "mv \"$ARCHIVE\" \"$ARCHIVE.away\"")
        try work.write("new", "1")
        let error = try JSON.object(process.line { $0.contains("\"event\":\"error\"") })
        #expect(error["code"] as? String == "noArchive")
        #expect(access(work.archive.string, F_OK) != 0, "an archive was made in its place")
        try shell(work, "mv \"$ARCHIVE.away\" \"$ARCHIVE\"")
        try expectSnapshot(work, process, "1")
        process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(outcome.lines.filter { $0.contains("\"event\":\"error\"") }.count == 1, "\(outcome.text)")
    }

    @Test("if another archive replaces the first, nothing is captured into it, and the files of the first are closed")
    func replaced() throws {
        let work = try Workplace()
        let process = try watching(work)
        try shell(work, "mv \"$ARCHIVE\" \"$ARCHIVE.away\"; mkdir \"$ARCHIVE.tree\"")
        #expect(try work.run("capture", "--create", work.path("archive.tree").string).status == 0)
        try work.write("new", "2")
        let line = try process.line { $0.contains("another archive is at") }
        #expect(try JSON.object(line)["code"] as? String == "noArchive")
        let roots = try JSON.array(work.run("roots", "--json").output)
        #expect(roots.count == 1, "\(roots)")
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.id)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.id)/fd/\($0)")
        }
        #expect(open.filter { $0.contains("archive.away/") } == [])
        try shell(work, "rm -rf \"$ARCHIVE\"; mv \"$ARCHIVE.away\" \"$ARCHIVE\"")
        try expectSnapshot(work, process, "2")
        // The watcher has its lock and its socket again.
        #expect(try work.run("watch", work.root.string).status == 11)
        #expect(try work.run("sync", work.root.string).status == 0)
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        #expect(try work.run("check", "--data").status == 0)
    }

    @Test(
        "while its disk is unmounted lazily, and when it is back, a watcher holds no file of the lost mount",
        .enabled(if: geteuid() == 0))
    func unmountedLazily() throws {
        let work = try Workplace()
        let script = #"""
            export HOME=$WORK ARCHIVER_ARCHIVE=$WORK/disk/archive; mkdir real disk other; mkfifo events
            exec unshare -m --propagation private sh -c '
                await() { while read -r line <&3; do case $line in *"$1"*) return;; esac; done; echo "no $1"; exit 1; }
                lost() { grep -lE "^mnt_id:[[:space:]]*$id\$" /proc/$p/fdinfo/* | wc -l; }
                mount -t tmpfs none real && mount --bind real disk
                id=$(awk -v disk="$WORK/disk" "\$5 == disk { print \$1 }" /proc/self/mountinfo)
                "$PROGRAM" capture -q tree 2> said || exit 1
                "$PROGRAM" watch tree --json > events 2> errors & p=$!
                exec 3< events
                await "\"watching\""
                [ "$(lost)" -gt 0 ] || echo "the watcher has no file of the archive"
                umount -l disk; echo 1 > tree/new
                await noArchive
                echo "away $(lost)"
                # The first mount gets the number of the lost one, which the kernel gives again.
                mount --bind real other; mount --bind real disk
                await "\"event\":\"snapshot\""
                echo "back $(lost)"
                kill $p; cat <&3 > rest; wait $p; echo $?'
            """#
        let outcome = try ChildProcess.run(
            "sh", ["-c", script].map { Array($0.utf8) },
            environment: ["WORK": work.path("").string, "PROGRAM": Workplace.program.string], directory: work.path(""))
        guard !outcome.errorText.contains("unshare") else { return }
        #expect(outcome.text == "away 0\nback 0\n0\n", "\(outcome.errorText)")
    }

    @Test("snapshots made after the catalogue was deleted are listed")
    func withoutCatalogue() throws {
        let work = try Workplace()
        let process = try watching(work)
        try shell(work, "rm \"$ARCHIVE\"/catalogue*")
        try work.replace("new", "3")
        try expectSnapshot(work, process, "3")
        #expect(try work.listed().count == 2)
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }
}
