// When passes begin, by a clock of the test.

import ObjectStore
import Replicas
import Testing
import Threading

@Suite("The schedule of sending")
struct SendingScheduleTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("a commit is sent a second later, and a series of commits ten seconds after its first")
    func pauses() {
        var schedule = SendingSchedule()
        #expect(schedule.due(at: at(0)) == nil)
        schedule.committed(100, at: at(0))
        #expect(schedule.due(at: at(0)) == at(1))
        for tenth in 1...200 { schedule.committed(100, at: at(Double(tenth) / 10)) }
        #expect(schedule.due(at: at(20)) == at(10))
        schedule.begun(at: at(20))
        schedule.succeeded()
        #expect(schedule.due(at: at(20)) == nil)
    }

    @Test("much is sent immediately")
    func much() {
        var schedule = SendingSchedule()
        schedule.committed(1 << 20, at: at(0))
        #expect(schedule.due(at: at(0)) == at(0))
    }

    @Test("a save every five seconds makes at most 6,000 passes a day, and none waits for longer than a minute")
    func day() throws {
        var schedule = SendingSchedule()
        var passes = 0
        var waiting: Double?
        var longest = 0.0
        for second in 0..<86_400 {
            if second % 5 == 0 {
                schedule.committed(2_000, at: at(Double(second)))
                waiting = waiting ?? Double(second)
            }
            let now = at(Double(second))
            if let due = schedule.due(at: now), due <= now {
                schedule.begun(at: now)
                schedule.succeeded()
                passes += 1
                longest = max(longest, Double(second) - (waiting ?? 0))
                waiting = nil
            }
        }
        #expect(passes <= 6_000 && passes > 4_000, "\(passes)")
        #expect(longest < 60, "\(longest)")
    }

    @Test("failures pause longer each time, at most five minutes, and a success ends that")
    func failures() {
        var schedule = SendingSchedule()
        schedule.committed(1, at: at(0))
        var pauses: [Double] = []
        for _ in 0..<12 {
            schedule.begun(at: at(0))
            schedule.failed(at: at(0))
            if let due = schedule.due(at: at(0)) { pauses.append(start.duration(to: due) / .seconds(1)) }
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(schedule.isFailing)
        schedule.succeeded()
        #expect(schedule.due(at: at(0)) == nil && !schedule.isFailing)
    }

    @Test("a network that is lost for an hour is tried some twenty times, and everything is sent soon after it is back")
    func hour() {
        var schedule = SendingSchedule()
        let lost = 1800..<5400
        var (tries, waiting) = (0, 0)
        var sent: Int?
        for second in 0..<7200 {
            let now = at(Double(second))
            if second % 5 == 0 {
                schedule.committed(2_000, at: now)
                waiting += 1
            }
            guard let due = schedule.due(at: now), due <= now else { continue }
            schedule.begun(at: now)
            if lost.contains(second) {
                tries += 1
                schedule.failed(at: now)
            } else {
                schedule.succeeded()
                waiting = 0
                if second >= lost.upperBound { sent = sent ?? second }
            }
        }
        #expect((10...30).contains(tries), "\(tries)")
        #expect((sent ?? .max) - lost.upperBound <= 300)
        #expect(waiting < 12, "\(waiting) saves still wait")
    }

    @Test("a rate limit lets each part wait until those before it have had their time, and saves up no time")
    func pace() {
        let start = ContinuousClock.now
        let pace = SendingPace(bytesPerSecond: 1000, at: start)
        #expect(pace.wait(for: 500, at: start) == .zero)
        #expect(pace.wait(for: 500, at: start) == .milliseconds(500))
        #expect(pace.wait(for: 1, at: start) == .seconds(1))
        let later = start + .seconds(60)
        #expect(pace.wait(for: 1000, at: later) == .zero)
        #expect(pace.wait(for: 1, at: later) == .seconds(1))
    }

    @Test("every byte of an object is counted against the rate, a quarter of a second's at a time")
    func pacedSource() throws {
        let counted = Locked(0)
        let most = Locked(0)
        let source = PacedSource(BytesSource([1, 2, 3, 4, 5]), pieceBytes: 2) { bytes in
            counted.withLock { $0 += bytes }
            most.withLock { $0 = max($0, bytes) }
        }
        let store = MemoryStore()
        let name = try #require(ObjectName("a"))
        _ = try store.put(name, from: source)
        #expect(try store.get(name) == [1, 2, 3, 4, 5])
        #expect(counted.withLock { $0 } == 5 && most.withLock { $0 } == 2)
        #expect(try source.unpaced.read(0..<3) == [1, 2, 3])
        #expect(counted.withLock { $0 } == 5)
        #expect(SendingPace(bytesPerSecond: 10_000).pieceBytes == 2500)
        #expect(SendingPace(bytesPerSecond: 1).pieceBytes == 1)
        #expect(SendingPace(bytesPerSecond: 1 << 30).pieceBytes == 1 << 20)
    }
}
