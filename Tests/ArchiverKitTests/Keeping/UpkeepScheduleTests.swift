// When an archive that is watched is maintained.

import Testing

@testable import Watching

@Suite("The schedule of maintenance") struct UpkeepScheduleTests {
    private let start = ContinuousClock.now

    private func minute(_ number: Int) -> ContinuousClock.Instant { start + .seconds(60 * number) }

    /// The minutes of a day in which maintenance runs, if the archive and its shortage are as `state` says.
    private func runs(
        leaving left: UpkeepSchedule.Shortage = .none, _ state: (Int) -> (UpkeepSchedule.Shortage, bytes: UInt64)
    ) -> [Int] {
        var schedule = UpkeepSchedule(from: start)
        return (1...200).filter { number in
            let (shortage, bytes) = state(number)
            guard schedule.isDue(at: minute(number), shortage, usedBytes: bytes) else { return false }
            schedule.ran(at: minute(number), usedBytes: bytes, leaving: left)
            return true
        }
    }

    @Test("maintenance runs five minutes after the start and then every hour")
    func quiet() { #expect(runs { _ in (.none, 1 << 20) } == [5, 65, 125, 185]) }

    @Test("an archive that gets too large is maintained at once, and each time it does so again")
    func growing() {
        let found = runs { number in (number % 30 == 10 ? .reached : .none, 1 << 20) }
        #expect(found == [5, 10, 40, 70, 100, 130, 160, 190])
    }

    @Test("a run that cannot help is not repeated every minute, but when the archive has grown by half since")
    func inVain() {
        #expect(runs(leaving: .reached) { _ in (.reached, 1 << 20) } == [1, 61, 121, 181])
        // One MiB more a minute, from 10 on.
        let found = runs(leaving: .reached) { number in (.reached, UInt64(10 + number) << 20) }
        #expect(found == [1, 7, 16, 30, 51, 82, 129, 189])
    }

    @Test("what is only almost too large is maintained once, and again when it is too large")
    func near() {
        let found = runs(leaving: .near) { number in (number == 20 ? .reached : .near, 1 << 20) }
        #expect(found == [1, 20, 80, 140, 200])
    }
}
