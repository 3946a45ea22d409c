// The directory of an archive: foreign objects in it, its owner, and what this machine remembers of it.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct ArchivePlaceTests {
    private let work: Workplace

    init() throws {
        work = try Workplace()
    }

    @discardableResult
    private func shell(_ script: String) throws -> ChildProcess.Outcome {
        let outcome = try ChildProcess.run(
            "sh", ["-c", script].map { Array($0.utf8) },
            environment: [
                "ARCHIVE": work.archive.string, "WORK": work.path("").string, "PROGRAM": Workplace.program.string,
            ],
            directory: work.path(""))
        return outcome
    }

    /// The commands that write to an archive.
    private var commands: [[String]] {
        let root = work.root.string
        return [
            ["check"], ["prune"], ["pin", "latest"], ["roots", "set", root, "--settle", "150ms"], ["capture", root],
            ["repair"], ["purge", "--yes", root + "/empty"],
        ]
    }

    // MARK: Links

    @Test(
        "no command writes or creates a file through a link in an archive",
        arguments: [
            "locks/reclaim.lock", "locks/keeping.lock", "locks/epoch", "locks/epoch.0", "locks/use.lock",
            "locks/open.lock", "locks", "settings", "salvage", "certificates", "segments", "ballast",
            "catalogue.sqlite", "catalogue.sqlite-wal", "archive.json",
        ])
    func links(name: String) throws {
        _ = try work.capture()
        try shell(
            """
            mkdir outside outside/folder && printf precious > outside/file && cd "$ARCHIVE" &&
            rm -rf "\(name)" && case "\(name)" in *.*|*/*|ballast) o=file;; *) o=folder;; esac &&
            ln -s "$WORK/outside/$o" "\(name)"
            """)
        for command in commands { _ = try work.run(command) }
        #expect(try work.read("outside/file") == Array("precious".utf8))
        let names = try ChildProcess.run("find", [Array(work.path("outside").string.utf8)]).lines
        #expect(names.count == 3, "\(names)")
    }

    @Test("a dangling link in an archive creates no file outside")
    func danglingLinks() throws {
        _ = try work.capture()
        for name in ["locks/reclaim.lock", "locks/epoch", "locks/use.lock", "catalogue.sqlite"] {
            try shell(
                """
                mkdir -p outside; rm -f "$ARCHIVE/\(name)" && ln -s "$WORK/outside/made" "$ARCHIVE/\(name)"
                """)
            let outcome = try work.run("check")
            // The catalogue is rebuilt, and a check does not count an epoch.
            let isNeeded = name.hasSuffix(".lock")
            if isNeeded { expectRefusal(outcome, 1, naming: "symbolic link at") } else { #expect(outcome.status == 0) }
            try shell("rm -f \"$ARCHIVE/\(name)\"")
            #expect(try FileManager.default.contentsOfDirectory(atPath: work.path("outside").string) == [], "\(name)")
        }
    }

    @Test("a file of the user that is hard-linked into an archive stays as it is")
    func hardLinks() throws {
        _ = try work.capture()
        for name in ["locks/reclaim.lock", "locks/keeping.lock", "locks/epoch", "ballast"] {
            try shell("printf precious-file > precious; ln -f precious \"$ARCHIVE/\(name)\"")
            for command in commands { _ = try work.run(command) }
            #expect(try work.read("precious") == Array("precious-file".utf8), "\(name)")
            try shell("rm -f \"$ARCHIVE/\(name)\"")
        }
    }

    // MARK: Owner and permissions

    @Test("every file of a new archive is private")
    func privateFiles() throws {
        _ = try work.capture()
        for command in commands { _ = try work.run(command) }
        let open = try ChildProcess.run("find", [work.archive.string, "-perm", "/077"].map { Array($0.utf8) })
        #expect(open.lines == [])
    }

    @Test("root leaves no file in a user's archive that the user may not use", .enabled(if: geteuid() == 0))
    func root() throws {
        for command in commands {
            try shell("rm -rf \"$ARCHIVE\"")
            #expect(try work.run("capture", "--create", work.root.string).status == 0)
            try shell("chown -R 65534:65534 \"$ARCHIVE\"; rm -f \"$ARCHIVE\"/catalogue* \"$ARCHIVE\"/locks/*")
            try work.write("new", "\(command)")
            let outcome = try work.run(command)
            #expect(outcome.status == 0 || outcome.status == 64, "\(command): \(outcome.errorText)")
            let left = try ChildProcess.run(
                "find", [work.archive.string, "!", "-user", "65534"].map { Array($0.utf8) })
            #expect(left.lines == [], "\(command)")
        }
    }

    @Test("a file that may not be read is no damage", .enabled(if: geteuid() == 0))
    func refusal() throws {
        _ = try work.capture()
        try shell("chown -R 65534:65534 \"$WORK\"; chown 0 \"$ARCHIVE\"/segments/*/*/*/*")
        func run(_ command: String) throws -> ChildProcess.Outcome {
            try shell(
                """
                cp "$PROGRAM" program; chmod 755 . program
                HOME=$WORK exec setpriv --reuid=65534 --regid=65534 --clear-groups ./program --archive "$ARCHIVE" \(command)
                """)
        }
        let check = try run("check")
        #expect(check.status == 1, "\(check.errorText)")
        #expect(check.errorText.contains("give all files of the archive to one user"), "\(check.errorText)")
        try shell(
            "chown -R 65534:65534 \"$ARCHIVE\"; chown 0 \"$ARCHIVE\"/catalogue.sqlite; chmod 600 \"$ARCHIVE\"/cat*")
        let list = try run("list")
        #expect(list.status == 1, "\(list.errorText)")
        #expect(list.errorText.contains("give all files of the archive to one user"), "\(list.errorText)")
    }

    // MARK: Memory

    private func expectMissing(_ command: String..., status: Int32 = 10) throws {
        let outcome = try work.run(command)
        #expect(outcome.status == status, "\(outcome.errorText)")
        #expect(outcome.errorText.contains("is its disk mounted? '--create'"), "\(outcome.errorText)")
        #expect(outcome.errorText.contains("was here on 2"), "\(outcome.errorText)")
    }

    @Test("a missing archive that this machine remembers is not created again without --create")
    func missing() throws {
        let root = work.root.string
        _ = try work.capture()
        try shell("mv \"$ARCHIVE\" away")
        for command in ["capture", "sync", "watch"] { try expectMissing(command, root) }
        try expectMissing("status")
        try shell("mkdir \"$ARCHIVE\"")
        try expectMissing("capture", root)
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.archive.string) == [])
        let created = try work.run("capture", root, "--create", "--json", "-q")
        #expect(created.status == 0)
        let warning = try JSON.object(created.error)["warning"] as? [String: Any]
        #expect(warning?["kind"] as? String == "created")
        #expect(try work.run("capture", root).status == 0)
    }

    @Test("another archive in the place of a remembered one is used only with --create, and then both may take turns")
    func another() throws {
        let root = work.root.string
        _ = try work.capture()
        try shell("mv \"$ARCHIVE\" first")
        #expect(try work.run("capture", root, "--archive", work.path("second").string).status == 0)
        try shell("mv second \"$ARCHIVE\"")
        try expectMissing("capture", root)
        try expectMissing("list")
        #expect(try work.run("list", "--create").status == 0)
        #expect(try work.run("capture", root, "--create").status == 0)
        #expect(try work.run("capture", root).status == 0)
        try shell("mv \"$ARCHIVE\" second && mv first \"$ARCHIVE\"")
        #expect(try work.run("capture", root).status == 0)
    }

    @Test("an archive whose directory was removed with everything around it is not missed")
    func remade() throws {
        let archive = work.path("place/archive").string
        for _ in 0..<2 {
            try shell("rm -rf place; mkdir place")
            let outcome = try work.run("capture", work.root.string, "--archive", archive)
            #expect(outcome.status == 0, "\(outcome.errorText)")
        }
    }

    @Test("an archive on a disk that is not mounted is missed", .enabled(if: geteuid() == 0))
    func unmounted() throws {
        let outcome = try shell(
            """
            export HOME=$WORK ARCHIVER_ARCHIVE=$WORK/disk/archive; mkdir disk
            exec unshare -m --propagation private sh -c '
                mount -t tmpfs none disk && "$PROGRAM" capture -q tree 2> said; umount disk
                "$PROGRAM" capture tree; echo $?; ls disk'
            """)
        guard !outcome.errorText.contains("unshare") else { return }
        #expect(outcome.text == "10\n", "\(outcome.errorText)")
        #expect(try String(decoding: work.read("said"), as: UTF8.self).contains("created a new archive"))
    }

    /// As after a restart, when the directory of removable disks is made again.
    @Test(
        "an archive on a disk that is not mounted is missed, also if the directories above it were made again",
        .enabled(if: geteuid() == 0))
    func unmountedRemade() throws {
        let outcome = try shell(
            """
            export HOME=$WORK ARCHIVER_ARCHIVE=$WORK/media/disk/archive; mkdir -p media/disk
            exec unshare -m --propagation private sh -c '
                mount -t tmpfs none media/disk && "$PROGRAM" capture -q tree 2> said; umount media/disk
                rm -r media; mkdir -p media/disk
                "$PROGRAM" capture tree; echo $?; ls media/disk'
            """)
        guard !outcome.errorText.contains("unshare") else { return }
        #expect(outcome.text == "10\n", "\(outcome.errorText)")
    }

    @Test("if nothing can be remembered, archives are used without a memory")
    func withoutMemory() throws {
        for home in ["/dev/null", "/proc", ""] {
            let outcome = try work.run("capture", work.root.string, environment: ["HOME": home])
            #expect(outcome.status == 0, "\(outcome.errorText)")
        }
    }

    // MARK: The start of the program

    @Test("closed standard descriptors are not given to files of the archive")
    func closedDescriptors() throws {
        let id = try work.capture()
        for _ in 0..<2 {
            try shell("for c in list check 'roots'; do \"$PROGRAM\" --archive \"$ARCHIVE\" $c <&- >&- 2>&-; done")
        }
        let found = try shell("grep -r -l \(id.prefix(8)) \"$ARCHIVE\"/locks \"$ARCHIVE\"/archive.json")
        #expect(found.lines == [])
        let numbers = try shell(
            """
            "$PROGRAM" --archive "$ARCHIVE" watch tree <&- >&- 2>&- & p=$!
            until ls "$ARCHIVE"/locks/*.socket > /dev/null 2>&1; do :; done
            for n in 0 1 2; do readlink /proc/$p/fd/$n; done; kill $p; wait $p
            """)
        #expect(numbers.lines == ["/dev/null", "/dev/null", "/dev/null"])
    }

    @Test(
        "the arguments are found if a preloaded library changes the environment",
        .enabled(if: access("/usr/bin/cc", X_OK) == 0))
    func preloaded() throws {
        let id = try work.capture()
        let source = """
            #include <stdlib.h>
            __attribute__((constructor)) static void change(void) { setenv("ADDED", "1", 1); }
            """
        try work.write("../library.c", source)
        let outcome = try shell(
            """
            /usr/bin/cc -shared -fPIC -o library.so library.c || exit 1
            LD_PRELOAD="$WORK/library.so" "$PROGRAM" --archive "$ARCHIVE" list
            """)
        #expect(outcome.status == 0 && outcome.text.contains(id.prefix(8)), "\(outcome.text)\(outcome.errorText)")
    }
}
