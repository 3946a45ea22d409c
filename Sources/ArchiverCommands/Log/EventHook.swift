// Runs the user's command for events: one at a time, bounded in time, number and output.

internal import ArchiverKit
internal import CLinux
internal import Dispatch
internal import FileIO
internal import Glibc
internal import Programs
internal import SystemPackage
internal import Threading

/// Passes events to a command; an observer that never waits.
///
/// Problems go first. Of the snapshots of a root, only the newest waits. So a command that is slow, or whose own changes
/// cause the next snapshot, gets fewer events, and delays nothing.
final class EventHook: Sendable {
    struct Limits: Sendable {
        /// How long one run may take.
        var time = Duration.seconds(30)
        /// After that it is asked to end, and after this pause it is killed.
        var grace = Duration.seconds(2)
        /// How much one run may print.
        var outputBytes = 64 << 10
        /// How many runs for snapshots, and how many for problems, may begin within `span`.
        var runs = 60
        var span = Duration.seconds(60)
        /// How many problems may wait.
        var waiting = 100
    }

    private struct Waiting {
        let name: String
        let json: String
    }

    private struct State {
        var command: [UInt8]?
        var problems: [Waiting] = []
        /// The newest snapshot of each root, in the order in which the roots began to wait.
        var snapshots: [(root: [UInt8], event: Waiting)] = []
        /// When the latest runs began.
        var snapshotRuns: [ContinuousClock.Instant] = []
        var problemRuns: [ContinuousClock.Instant] = []
        /// Problems that found no place since this was last said.
        var dropped = 0
        /// Whether the thread runs.
        var isRunning = false
        /// The command that runs, which leads a process group.
        var child: pid_t?
        var hasEnded = false
        /// The outcome that was said last: a command that always fails is named once.
        var complaint: String?
        /// When it was last said that the command runs too often.
        var saidOften: ContinuousClock.Instant?
    }

    private let limits: Limits
    private let say: @Sendable (String) -> Void
    private let state: Locked<State>
    /// Wakes the thread when the service ends.
    private let ended = DispatchSemaphore(value: 0)
    /// Signalled whenever the thread ends.
    private let finished = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - command: for `sh -c`; nil for none.
    ///   - say: reports what goes wrong with the command.
    init(_ command: [UInt8]?, _ limits: Limits = Limits(), say: @escaping @Sendable (String) -> Void) {
        self.limits = limits
        self.say = say
        state = Locked(State(command: command))
    }

    /// Runs another command from now on.
    func change(to command: [UInt8]?) {
        state.withLock { state in
            if state.command != command { state.complaint = nil }
            state.command = command
        }
    }

    func add(_ event: WatchService.Event) {
        guard state.withLock({ $0.command != nil }), EventHook.isPassedOn(event) else { return }
        let json = WatchEventJSON(event)
        guard let text = try? JSONText.of(json) else { return }
        let waiting = Waiting(name: json.name, json: text)
        let starts = state.withLock { state in
            if state.hasEnded { return false }
            if case .snapshot(let snapshot) = event {
                if let index = state.snapshots.firstIndex(where: { $0.root == snapshot.rootPath }) {
                    state.snapshots[index].event = waiting
                } else {
                    state.snapshots.append((snapshot.rootPath, waiting))
                }
            } else if state.problems.count < limits.waiting {
                state.problems.append(waiting)
            } else {
                state.dropped += 1
            }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        do { try DetachedThread.start(for: "the command of --on-event") { self.work() } } catch {
            state.withLock { $0.isRunning = false }
        }
    }

    /// Ends the running command, and starts no other.
    func end() {
        let isRunning = state.withLock { state in
            state.hasEnded = true
            return state.isRunning
        }
        guard isRunning else { return }
        ended.signal()
        let deadline = DispatchTime.now() + .seconds(1)
        while state.withLock({ $0.isRunning }), finished.wait(timeout: deadline) == .success {}
        // The thread had no time to end it.
        state.withLock { state in
            if let child = state.child { kill(-child, SIGKILL) }
        }
    }

    /// Events that a person may want to hear of; the usual course of watching is not among them.
    private static func isPassedOn(_ event: WatchService.Event) -> Bool {
        switch event {
        case .snapshot, .gap, .fallback, .unavailable, .available, .problems, .related, .wrongClock, .error,
            .notMaintained, .replicaFailed, .replicaComplete, .dropped:
            true
        case .maintained(let result): result.isShort || result.thinnedForRoom > 0
        case .audited(_, let result): result.found > 0
        case .waiting, .covered, .starting, .watching, .largeFile, .stopped: false
        }
    }

    // MARK: Running

    private enum Next {
        case run(Waiting, command: [UInt8])
        case pause(Duration, isNews: Bool)
        case nothing
    }

    private func work() {
        while true {
            switch next() {
            case .nothing:
                finished.signal()
                return
            case .pause(let duration, let isNews):
                if isNews {
                    say(
                        "the command of --on-event has run \(limits.runs) times within \(limits.span.components.seconds) s and runs less "
                            + "often now, for the newest snapshot of each root: does it change a watched file itself?")
                }
                _ = ended.wait(timeout: .now() + .nanoseconds(Int(min(duration, .seconds(60)) / .nanoseconds(1))))
            case .run(let event, let command):
                let complaint = run(event, command)
                let isNews = state.withLock { state in
                    defer { state.complaint = complaint }
                    return complaint != nil && complaint != state.complaint && !state.hasEnded
                }
                if let complaint, isNews { say("the command of --on-event " + complaint) }
            }
        }
    }

    private func next() -> Next {
        let now = ContinuousClock.now
        let (next, dropped) = state.withLock { state -> (Next, Int) in
            guard !state.hasEnded, let command = state.command else {
                (state.problems, state.snapshots, state.isRunning) = ([], [], false)
                return (.nothing, 0)
            }
            let dropped = state.dropped
            state.dropped = 0
            let problemPause = pause(&state.problemRuns, now)
            if !state.problems.isEmpty, problemPause == nil {
                state.problemRuns.append(now)
                return (.run(state.problems.removeFirst(), command: command), dropped)
            }
            let snapshotPause = pause(&state.snapshotRuns, now)
            if !state.snapshots.isEmpty, snapshotPause == nil {
                state.snapshotRuns.append(now)
                return (.run(state.snapshots.removeFirst().event, command: command), dropped)
            }
            let pauses = [state.problems.isEmpty ? nil : problemPause, state.snapshots.isEmpty ? nil : snapshotPause]
            guard let pause = pauses.compactMap(\.self).min() else {
                state.isRunning = false
                return (.nothing, dropped)
            }
            let isNews = state.saidOften.map { now - $0 > .seconds(3600) } ?? true
            if isNews { state.saidOften = now }
            // A problem that comes meanwhile must not wait long.
            return (.pause(min(pause, .seconds(1)), isNews: isNews), dropped)
        }
        if dropped > 0 { say("\(Plural.of(dropped, "event")) not passed to the command of --on-event: it is too slow") }
        return next
    }

    /// How long to wait until the next run may begin; nil if it may now.
    private func pause(
        _ runs: inout [ContinuousClock.Instant], _ now: ContinuousClock.Instant
    ) -> Duration? {
        runs.removeAll { now - $0 >= limits.span }
        guard runs.count >= limits.runs, let first = runs.first else { return nil }
        return limits.span - (now - first)
    }

    /// Runs the command for one event.
    ///
    /// - Returns: what went wrong.
    private func run(_ event: Waiting, _ command: [UInt8]) -> String? {
        let input = clinux_memory_file()
        guard input >= 0 else { return "cannot be given the event: \(Errno.current)" }
        let file = Descriptor(owning: input)
        var ends: [CInt] = [-1, -1]
        guard (try? file.write(Array((event.json + "\n").utf8), path: "the event")) != nil,
            lseek(input, 0, SEEK_SET) == 0, clinux_pipe(&ends) == 0
        else { return "cannot be given the event: \(Errno.current)" }
        let output = Descriptor(owning: ends[0])
        let child: ChildProgram
        do throws(FileError) {
            defer { close(ends[1]) }
            let (shell, names) = (["sh", "-c"], ["archiver", event.name])
            let words = shell.map { Array($0.utf8) } + [command] + names.map { Array($0.utf8) }
            child = try ChildProgram(words, input: input, output: ends[1], error: ends[1], leadsGroup: true)
        } catch { return "cannot be run: \(error)" }
        return follow(child, output)
    }

    /// Reads what the command prints until it ends, or ends it.
    private func follow(_ child: ChildProgram, _ output: borrowing Descriptor) -> String? {
        state.withLock { $0.child = child.id }
        let start = ContinuousClock.now
        var (said, count, isOpen) = ([UInt8](), 0, true)
        var complaint: String?
        var askedToEnd: ContinuousClock.Instant?
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        /// Reads what has been printed; false if that is nothing.
        func readMore(within milliseconds: CInt) -> Bool {
            var request = pollfd(fd: isOpen ? output.number : -1, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, milliseconds) > 0 else { return false }
            let got = buffer.withUnsafeMutableBytes { read(output.number, $0.baseAddress, $0.count) }
            isOpen = got > 0
            count += max(0, got)
            said += buffer.prefix(max(0, min(got, EventHook.shownBytes - said.count)))
            return isOpen
        }
        while !child.hasEnded {
            _ = readMore(within: EventHook.pollMilliseconds)
            let now = ContinuousClock.now
            if complaint == nil, count > limits.outputBytes {
                complaint = "was ended: it printed more than \(ByteCount.text(UInt64(limits.outputBytes)))"
            }
            if complaint == nil, now - start > limits.time {
                complaint = "was ended: it took longer than \(limits.time.components.seconds) s"
            }
            let hasEnded = state.withLock { $0.hasEnded }
            guard complaint != nil || hasEnded else { continue }
            if let askedToEnd {
                if now - askedToEnd > (hasEnded ? EventHook.lastGrace : limits.grace) { kill(-child.id, SIGKILL) }
            } else {
                kill(-child.id, SIGTERM)
                askedToEnd = now
            }
        }
        // What it has started ends with it. Its number is free only once it has been waited for.
        kill(-child.id, SIGKILL)
        state.withLock { $0.child = nil }
        while said.count < EventHook.shownBytes, readMore(within: 0) {}
        let status = child.wait()
        if let complaint { return complaint }
        if status == 0 { return nil }
        let line = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline).first
        return "failed with status \(status)" + (line.map { ": \($0)" } ?? "")
    }

    private static let pollMilliseconds: CInt = 20
    private static let shownBytes = 1000
    /// The same pause when the service ends, which waits a second for the command.
    private static let lastGrace = Duration.milliseconds(500)
}
