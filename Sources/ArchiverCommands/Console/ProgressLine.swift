// A line on stderr that shows the progress of a long operation and is erased at its end.

internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import Threading

/// Shows an operation's progress on a terminal, at most ten times a second, and prints it on SIGUSR1.
final class ProgressLine: Sendable {
    private struct State {
        var isEnded = false
        var isDrawn = false
    }

    private let progress: OperationProgress
    private let output: Output
    private let title: String
    private let noun: String
    private let start = ContinuousClock.now
    private let state = Locked(State())
    private static let microsecondsBetweenDrawings: UInt32 = 100_000

    /// Starts to show `progress` if stderr is a terminal and neither `--quiet` nor `--json` is given.
    ///
    /// - Parameter noun: the plural of the counted things.
    init(
        _ title: String, _ progress: OperationProgress, _ console: Console,
        counting noun: String = ProgressText.entries
    ) {
        self.progress = progress
        self.title = title
        self.noun = noun
        output = console.error
        ProgressSignal.answer { [self] in text }
        guard console.error.isTerminal, !console.isQuiet, !console.isJSON else { return }
        // On a separate thread, because a write to a terminal can block. Without a thread there is no line.
        try? DetachedThread.start(for: "the progress line") { [self] in
            while draw() { usleep(ProgressLine.microsecondsBetweenDrawings) }
        }
    }

    /// Erases the line and stops showing progress.
    func end() {
        state.withLock { state in
            wipe(&state)
            state.isEnded = true
        }
        ProgressSignal.answer(nil)
    }

    private var text: String {
        ProgressText.line(title, progress.reading, counting: noun, after: ContinuousClock.now - start)
    }

    /// Runs `body`, which prints, with the line erased.
    func aside<Value>(_ body: () throws -> Value) rethrows -> Value {
        try state.withLock { state in
            wipe(&state)
            return try body()
        }
    }

    /// Draws the line.
    ///
    /// - Returns: false once the line has ended.
    private func draw() -> Bool {
        state.withLock { state in
            guard !state.isEnded else { return false }
            // The last column stays free, because some terminals wrap when it is written.
            put("\r" + DisplayWidth.cut(text, to: (output.presentColumns ?? 80) - 1) + "\u{1B}[K")
            state.isDrawn = true
            return true
        }
    }

    private func wipe(_ state: inout State) {
        if state.isDrawn { put("\r\u{1B}[K") }
        state.isDrawn = false
    }

    private func put(_ text: String) {
        // The operation continues if its progress cannot be shown.
        try? output.write(text)
        try? output.flush()
    }
}

/// The text of a progress line.
enum ProgressText {
    /// What most operations count: files, directories and everything else in a tree.
    static let entries = "entries"

    /// "restoring /srv: 1204 of 20000 entries, 1.2 GiB of 3.4 GiB, 85.3 MiB/s, 0:12 left".
    static func line(
        _ title: String, _ reading: OperationProgress.Reading, counting noun: String = entries, after elapsed: Duration
    ) -> String {
        line(
            title, entries: reading.entries, of: reading.expectedEntries, counting: noun, bytes: reading.bytes,
            of: reading.expectedBytes, after: elapsed)
    }

    static func line(
        _ title: String, entries: UInt64, of expectedEntries: UInt64?, counting noun: String = entries, bytes: UInt64,
        of expectedBytes: UInt64?, after elapsed: Duration
    ) -> String {
        let seconds = max(Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18, 0.001)
        var parts: [String] = []
        // Some operations count only bytes.
        if entries > 0 || expectedEntries != nil {
            let expected = expectedEntries.map { " of \($0)" } ?? ""
            let one = noun == ProgressText.entries ? "entry" : String(noun.dropLast())
            parts.append("\(entries)\(expected) \(expectedEntries ?? entries == 1 ? one : noun)")
        }
        let hasBytes = bytes > 0 || expectedBytes != nil
        let allBytes = expectedBytes.map { " of " + ByteCount.text($0) } ?? ""
        if hasBytes { parts.append(ByteCount.text(bytes) + allBytes) }
        // In the first second, a rate and a forecast would be misleading.
        if seconds >= 1 {
            if hasBytes { parts.append(ByteCount.text(UInt64(Double(bytes) / seconds)) + "/s") }
            if let left = secondsLeft(
                entries: entries, of: expectedEntries, bytes: bytes, of: expectedBytes, after: seconds)
            {
                parts.append(clock(left) + " left")
            }
        }
        return parts.isEmpty ? title : title + ": " + parts.joined(separator: ", ")
    }

    /// The remaining seconds: the longer of the estimates by bytes and by files; nil if there is no estimate.
    private static func secondsLeft(
        entries: UInt64, of expectedEntries: UInt64?, bytes: UInt64, of expectedBytes: UInt64?, after seconds: Double
    ) -> Double? {
        let pairs = [(entries, expectedEntries), (bytes, expectedBytes)]
        return pairs.compactMap { done, expected in
            guard let expected, done > 0, expected > 0 else { return nil }
            return expected > done ? seconds * Double(expected - done) / Double(done) : 0
        }.max()
    }

    /// "0:12", "1:02:03".
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds.rounded(.up), 359_999))
        let minutes = Digits.padded(whole / 60 % 60, to: whole >= 3600 ? 2 : 1)
        let rest = minutes + ":" + Digits.padded(whole % 60, to: 2)
        return whole >= 3600 ? "\(whole / 3600):\(rest)" : rest
    }
}
