// Numbers, tables and other small texts.

import ArchiverKit
import FileIO
import TestTraits
import Testing

@testable import ArchiverCommands

@Suite(.blocking)
struct RenderingTests {
    @Test(
        "sizes have a binary unit and one decimal",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1.0 MiB"),
            (1_048_576, "1.0 MiB"), (89_443_533, "85.3 MiB"), (UInt64.max, "16.0 EiB"),
        ] as [(UInt64, String)])
    func sizes(bytes: UInt64, text: String) {
        #expect(ByteCount.text(bytes) == text)
    }

    @Test(
        "permissions are written as by ls",
        arguments: [
            (0o755, "rwxr-xr-x"), (0o644, "rw-r--r--"), (0, "---------"), (0o4755, "rwsr-xr-x"),
            (0o2644, "rw-r-Sr--"), (0o1777, "rwxrwxrwt"), (0o7000, "--S--S--T"),
        ] as [(UInt16, String)])
    func permissions(bits: UInt16, text: String) {
        #expect(Permissions.letters(bits) == text)
    }

    @Test("permissions have four octal digits")
    func octal() {
        #expect([0, 0o644, 0o7777].map { Permissions.octal($0) } == ["0000", "0644", "7777"])
    }

    @Test("columns are aligned by display width")
    func table() {
        var table = TextTable([
            .init(title: "id", mark: .yellow), .init(title: "size", alignment: .right), .init(title: "label"),
        ])
        table.add(["1", "10 B", "one"])
        table.add(["漢字", "2 B", ""])
        #expect(table.aligned(Style(isOn: false)) == ["id    size  label", "1     10 B  one", "漢字   2 B"])
        #expect(table.aligned(Style(isOn: true))[1] == "\u{1B}[33m1\u{1B}[0m     10 B  one")
    }

    @Test("text is cut to the available columns")
    func cut() {
        #expect(DisplayWidth.cut("capturing", to: 9) == "capturing")
        #expect(DisplayWidth.cut("capturing", to: 5) == "capt…")
        #expect(DisplayWidth.cut("漢字漢字", to: 6) == "漢字…")
        #expect(DisplayWidth.cut("x", to: 0) == "")
    }

    @Test("progress has a rate and the remaining time after the first second")
    func progress() {
        func line(_ seconds: Double, of expected: UInt64?) -> String {
            ProgressText.line(
                "checking /a", entries: 10, of: expected.map { _ in 20 }, bytes: 1 << 20, of: expected,
                after: .seconds(seconds))
        }
        #expect(line(0.5, of: 4 << 20) == "checking /a: 10 of 20 entries, 1.0 MiB of 4.0 MiB")
        #expect(line(2, of: 4 << 20) == "checking /a: 10 of 20 entries, 1.0 MiB of 4.0 MiB, 512.0 KiB/s, 0:06 left")
        #expect(line(2, of: nil) == "checking /a: 10 entries, 1.0 MiB, 512.0 KiB/s")
        #expect(line(2000, of: 4 << 20) == "checking /a: 10 of 20 entries, 1.0 MiB of 4.0 MiB, 524 B/s, 1:40:00 left")
    }

    @Test("progress names only what was counted")
    func progressOfBytes() {
        func line(_ bytes: UInt64, of expected: UInt64?) -> String {
            ProgressText.line(
                "sending to 'far'", entries: 0, of: nil, bytes: bytes, of: expected, after: .milliseconds(100))
        }
        #expect(line(0, of: nil) == "sending to 'far'")
        #expect(line(0, of: 4 << 20) == "sending to 'far': 0 B of 4.0 MiB")
        #expect(line(1 << 20, of: 4 << 20) == "sending to 'far': 1.0 MiB of 4.0 MiB")
    }

    @Test(
        "durations are a number and a unit",
        arguments: [
            ("100ms", .milliseconds(100)), ("2s", .seconds(2)), ("1.5s", .milliseconds(1500)), ("3m", .seconds(180)),
            ("1h", .seconds(3600)), ("0s", .zero), ("24h", .seconds(86_400)),
        ] as [(String, Duration)])
    func durations(text: String, duration: Duration) {
        #expect(DurationArgument(argument: text)?.duration == duration)
    }

    @Test(
        "other texts are not durations",
        arguments: ["", "s", "2", "-1s", "+1s", "1 s", "1d", "infs", "nans", "0x1s", "1e3s", "1..2s", "25h", ".5s"])
    func noDurations(text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }

    @Test("defaults are shown as they can be typed")
    func defaults() {
        #expect(DurationArgument(.milliseconds(100)).defaultValueDescription == "100ms")
        #expect(DurationArgument(.seconds(2)).defaultValueDescription == "2s")
    }
}
