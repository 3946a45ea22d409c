// Running and measuring programs, and choosing lines.

import SystemPackage
import Testing

@testable import benchmarks

@Suite struct CommandTests {
    @Test("a program runs with its own environment, and its output is returned") func outputAndEnvironment() throws {
        let command = Command("sh", "-c", "echo $WORD; pwd", environment: ["WORD": "a word"]).inDirectory("/")
        #expect(try command.text() == "a word\n/\n")
    }

    @Test("the error of a failed program has its exit code and its stderr") func failure() {
        let error = #expect(throws: BenchmarkError.self) {
            try Command("sh", "-c", "echo trouble >&2; exit 3").run()
        }
        #expect(error?.description.contains("ended with 3") == true)
        #expect(error?.description.contains("trouble") == true)
    }

    @Test("processor time and peak memory are those of the program") func measurement() throws {
        // dd holds a buffer of 256 MiB, filled.
        let run = try Command("dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1").run()
        #expect(run.peakBytes > 256 << 20)
        #expect(run.processorSeconds > 0)
    }

    @Test("lines are chosen by name or by the part before a hyphen") func lines() throws {
        let lines = Lines.all(.small, tree: .copy(of: "/usr/share"))
        #expect(try Lines.chosen(nil, of: lines).count == lines.count)
        #expect(Set(lines.map(\.name)).count == lines.count)
        let chosen = try Lines.chosen("list,first", of: lines).map(\.name)
        #expect(chosen == ["first-usr-share", "first-million", "list"])
        #expect(throws: BenchmarkError.self) { try Lines.chosen("fir", of: lines) }
    }

    @Test("the instruction count is found in callgrind's log") func callgrind() {
        #expect(InstructionCounts.collected(in: "==7== Events    : Ir\n==7== Collected : 4567\n==7==\n") == 4567)
        #expect(InstructionCounts.collected(in: "==7== Events    : Ir\n") == nil)
    }
}
