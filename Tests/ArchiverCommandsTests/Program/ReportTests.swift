// What the program tells monitors and maintainers: metrics, and the report of doctor.

import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct ReportTests {
    private let work: Workplace

    init() throws { work = try Workplace() }

    private func text(_ path: FilePath) -> String { (try? String(contentsOfFile: path.string, encoding: .utf8)) ?? "" }

    @Test("metrics are in the format of OpenMetrics, with each root as a label")
    func metrics() throws {
        _ = try work.capture()
        let process = try work.start("watch", work.root.string, "--json")
        _ = try process.line { $0.contains("\"watching\"") }
        let outcome = try work.run("status", "--metrics")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
        let lines = outcome.lines
        #expect(lines.last == "# EOF")
        #expect(lines.contains("archiver_root_current{root=\"\(work.root)\"} 1"), "\(outcome.text)")
        #expect(lines.contains("archiver_root_lag_seconds{root=\"\(work.root)\"} 0"), "\(outcome.text)")
        #expect(lines.contains("# UNIT archiver_archive_used_bytes bytes"))
        var described: Set<String> = []
        for line in lines {
            if let match = line.firstMatch(of: /^# TYPE (\S+) gauge$/) {
                #expect(described.insert(String(match.1)).inserted, "\(line) stands twice")
            } else if !line.hasPrefix("#") {
                let match = line.firstMatch(of: /^([a-z_]+)(\{root="([^"\\]|\\.)*"\})? -?[0-9.e+-]+$/)
                #expect(match.map { described.contains(String($0.1)) } == true, "\(line)")
            }
        }
    }

    @Test("a file of metrics is replaced in one step, readable for the collector, whatever the status is")
    func metricsFile() throws {
        let file = work.path("archiver.prom")
        _ = try work.capture()
        // The root is not watched, which is a finding.
        let process = try work.start("watch", work.root.string, "--json")
        _ = try process.line { $0.contains("\"watching\"") }
        process.send(SIGTERM)
        _ = try process.finish()
        #expect(try work.run("status").status == 1)
        let outcome = try work.run("status", "--metrics-file", file.string)
        #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome.text)\(outcome.errorText)")
        #expect(text(file).contains("archiver_root_well{root=\"\(work.root)\"} 0\n"), "\(text(file))")
        #expect(text(file).hasSuffix("# EOF\n"))
        var status = stat()
        #expect(stat(file.string, &status) == 0 && status.st_mode & 0o777 == 0o644)
        expectRefusal(try work.run("status", "--metrics-file", "/none/x.prom"), 1, naming: "/none")
        #expect(try work.leftovers(in: work.path("")).isEmpty)
    }

    @Test("a report names no directory, no file and no command, and has settings, counters and the latest events")
    func report() throws {
        try work.configure(
            "on-event = \"true s3cret\"\n[[root]]\npath = \"\(work.root)\"\nexclude = [\"private-*\"]\nsettle = \"11ms\"\n"
        )
        let process = try work.start("service", "--json")
        _ = try process.line { $0.contains("\"watching\"") }
        let file = work.path("report")
        let outcome = try work.run("doctor", work.root.string, "--report", file.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let report = text(file)
        for word in [
            "archiver 0.", "settle: 11ms", "exclude: (1 set)", "on-event: (set)", "roots.0.snapshots: 1", " snapshot ",
        ] {
            #expect(report.contains(word), "\(word): \(report)")
        }
        for word in ["tree", "private-", "s3cret", work.path("").string, "todo"] {
            #expect(!report.contains(word), "\(word): \(report)")
        }
        var status = stat()
        #expect(stat(file.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
        expectRefusal(try work.run("doctor", "--report", file.string), 1, naming: "exists already")
        let named = work.path("named")
        #expect(try work.run("doctor", "--report", named.string, "--with-names").status == 0)
        #expect(text(named).contains(work.root.string) && !text(named).contains("s3cret"))
        process.send(SIGTERM)
        #expect(try process.finish().status == 0)
    }

    @Test("a report is written also without an archive and with a broken configuration")
    func reportOfNothing() throws {
        try work.configure("nonsense here\n")
        let file = work.path("report")
        let outcome = try work.run("doctor", "--report", file.string)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(text(file).contains("Configuration\n  it cannot be used\n"), "\(text(file))")
        #expect(text(file).contains("no service runs"))
    }
}
