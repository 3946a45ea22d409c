// The conditions under which figures were taken.

internal import Glibc
internal import SystemPackage

/// The machine, the programs and the terms of a run.
enum Circumstances {
    static func now(_ workshop: Workshop) -> [Report.Circumstance] {
        var facts = [
            ("processor", "\(processor), \(sysconf(CInt(_SC_NPROCESSORS_ONLN))) cores"),
            ("kernel", kernel),
            ("file system", fileSystem(of: workshop.directory)),
            ("least memory that can be told", leastMemory),
            ("rounds", "\(workshop.rounds), scale \(workshop.scale.rawValue), warm cache"),
        ]
        let questions = [
            ("restic", ["restic", "version"]), ("borg", ["borg", "--version"]), ("git", ["git", "--version"]),
            ("watchman", ["watchman", "--version"]),
        ]
        for (name, question) in questions {
            let answer = Command.isInstalled(name) ? word(question) : nil
            facts.append((name, answer ?? "not installed, left out"))
        }
        return facts.map(Report.Circumstance.init)
    }

    private static func fileSystem(of directory: FilePath) -> String {
        // The first line is a header.
        let reported = try? Command("df", "--output=fstype", directory.string).text()
        return reported.flatMap { $0.split(separator: "\n").last.map(String.init) } ?? "unknown"
    }

    private static func word(_ words: [String]) -> String? {
        (try? Command(words).text()).flatMap { $0.split(separator: "\n").first.map(String.init) }
    }

    private static var processor: String {
        let text = (try? TextFile.read("/proc/cpuinfo")) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line.flatMap { $0.split(separator: ":").last }.map { String($0.drop { $0 == " " }) } ?? "unknown"
    }

    /// The peak memory reported for a program that needs almost none; see `RunningProgram`.
    private static var leastMemory: String { (try? Command("true").run()).map { Figure.bytes($0.peakBytes) } ?? "?" }

    private static var kernel: String { word(["uname", "-sr"]) ?? "unknown" }
}
