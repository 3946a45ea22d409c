// What is installed: packages that are the same for the same program, and completions in real shells.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct PackageTests {
    private let work: Workplace

    init() throws { work = try Workplace() }

    private static let repository = FilePath(
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL.path())

    private static func has(_ programs: String...) -> Bool {
        programs.allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }
    }

    @Test(
        "two packages of one program, made in two directories, are equal byte by byte",
        .enabled(if: PackageTests.has("python3", "dpkg-deb", "dpkg-shlibdeps")), arguments: ["deb", "tarball"])
    func reproducible(_ kind: String) throws {
        // Half of the program's size is what the debugger reads.
        let program = work.path("program")
        _ = try ChildProcess.run(
            "strip", ["-o", program.string, Workplace.program.string].map { Array($0.utf8) }, directory: "/")
        var made: [FilePath] = []
        for name in ["one", "two"] {
            let copy = work.path(name)
            try work.write("../\(name)/LICENSE", "x")
            let copied = try ChildProcess.run(
                "cp",
                (["-r"] + ["fixtures/install.sh", "fixtures/package.sh", "fixtures/manual.py"] + [copy.string])
                    .map { Array($0.utf8) }, directory: PackageTests.repository)
            #expect(copied.status == 0, "\(copied.errorText)")
            let script = """
                mkdir fixtures && mv *.sh *.py fixtures && cp -r '\(PackageTests.repository)/README.md' . \
                && mkdir -p Sources/ArchiverKit Sources/ArchiveFormat \
                && cp -r '\(PackageTests.repository)/Sources/ArchiverKit/ArchiverKit.docc' Sources/ArchiverKit \
                && cp -r '\(PackageTests.repository)/Sources/ArchiveFormat/ArchiveFormat.docc' Sources/ArchiveFormat \
                && fixtures/package.sh \(kind) '\(program)' out
                """
            let outcome = try ChildProcess.run(
                "bash", ["-c", script].map { Array($0.utf8) },
                environment: ["SOURCE_DATE_EPOCH": "1790000000", "COMPRESSION": "none"], directory: copy)
            #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
            made.append(copy.appending("out"))
        }
        let difference = try ChildProcess.run(
            "diff", (["-r"] + made.map(\.string)).map { Array($0.utf8) }, directory: "/")
        #expect(difference.status == 0, "\(difference.text)")
        guard kind == "deb" else { return }
        let files = try ChildProcess.run(
            "sh", ["-c", "dpkg-deb -c out/*.deb | awk '{ print $2, $6 }'"].map { Array($0.utf8) },
            directory: work.path("one")
        ).lines
        #expect(files.contains("root/root ./usr/bin/archiver"))
        for path in [
            "lib/systemd/user/archiver.service", "share/man/man1/archiver-enable.1.gz",
            "share/fish/vendor_completions.d/archiver.fish",
        ] {
            #expect(files.contains("root/root ./usr/\(path)"), "\(path)")
        }
    }

    @Test("completions work in real shells", arguments: ["bash", "zsh", "fish"].filter { PackageTests.has($0) })
    func completions(_ shell: String) throws {
        #expect(try work.run("capture", work.root.string, "--label", "lasting").status == 0)
        try work.write("../bin/x", "")
        #expect(symlink(Workplace.program.string, work.path("bin/archiver").string) == 0)
        let script = work.path("script")
        let text = try work.run("--generate-completion-script", shell).text
        try text.write(toFile: script.string, atomically: false, encoding: .utf8)
        let commands =
            switch shell {
            case "bash":
                """
                source '\(script)'
                COMP_WORDS=(archiver show la) COMP_CWORD=2 COMP_LINE='archiver show la' COMP_POINT=16 COMP_TYPE=9
                $(complete -p archiver | sed 's/.*-F \\([^ ]*\\).*/\\1/') archiver la show
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            case "fish":
                // Fish completes only on a terminal.
                """
                python3 - <<'END'
                import os, pty, select, time
                process, terminal = pty.fork()
                if process == 0:
                    os.execvp("fish", ["fish", "--no-config", "-C", "source '\(script)'; echo begin''ning"])
                def read_until(word):
                    text, end = b"", time.monotonic() + 60
                    while word not in text and time.monotonic() < end:
                        if select.select([terminal], [], [], 1)[0]:
                            text += os.read(terminal, 65536)
                    return text.decode()
                read_until(b"beginning")
                for word in [b"late", b"last"]:
                    os.write(terminal, b"archiver show " + word + b"\t")
                    print(read_until({b"late": b"latest", b"last": b"lasting"}[word]))
                    os.write(terminal, b"\\x15")
                os.kill(process, 9)
                END
                """
            default:
                """
                zmodload zsh/zpty
                mkdir -p functions && cp '\(script)' functions/_archiver
                zpty shell zsh -f -i
                zpty -w shell "PS1='>'; fpath=($PWD/functions \\$fpath); autoload -Uz compinit; compinit -u -D; setopt LIST_ROWS_FIRST; LISTMAX=100; print begin''ning"
                zpty -r -m shell line '*beginning*'
                zpty -w -n shell $'archiver show la\\t\\t'
                zpty -r -m shell line '*lasting*'
                print -r -- $line
                zpty -d shell
                """
            }
        let outcome = try ChildProcess.run(
            FilePath(shell == "fish" ? "bash" : shell),
            (shell == "zsh" ? ["-f", "-c", commands] : ["-c", commands]).map { Array($0.utf8) },
            environment: [
                "PATH": "\(work.path("bin")):/usr/bin:/bin", "ARCHIVER_ARCHIVE": work.archive.string,
                "HOME": work.path("").string, "TERM": "dumb",
            ], directory: work.path(""))
        #expect(
            outcome.text.contains("latest") && outcome.text.contains("lasting"), "\(outcome.text)\(outcome.errorText)")
    }
}
