// The growth of an archive.

/// The results of a simulated year.
struct Growth: Codable {
    /// The archive's size at the end of a week.
    struct Sample: Codable {
        let captures: Int
        let snapshots: Int
        let segmentBytes: Int
        let catalogueBytes: Int

        var bytes: Int { segmentBytes + catalogueBytes }
    }

    let habit: Habit
    /// One sample per week.
    var samples: [Sample] = []
    /// The times of the captures.
    var captures = Times()
    /// The times of the hourly runs that pruned nothing.
    var quietRuns = Times()
    /// The times of the hourly runs that pruned the archive.
    var prunes = Times()

    init(habit: Habit) { self.habit = habit }

    /// The sizes after some of the weeks, and the times, as Markdown.
    static func table(_ all: [Growth]) -> String {
        var text = "| | snapshots | segments | catalogue | total |\n|---|---|---|---|---|\n"
        for growth in all {
            let count = growth.samples.count
            let shown = Set([count / 12, count / 4, count / 2, count * 3 / 4, count].filter { $0 > 0 })
            for week in shown.sorted() {
                let sample = growth.samples[week - 1]
                let sizes = [sample.segmentBytes, sample.catalogueBytes, sample.bytes].map(mebibytes)
                text += "| \(growth.habit.name), \(week) weeks | \(sample.snapshots) of \(sample.captures) | "
                text += "\(sizes.joined(separator: " | ")) |\n"
            }
        }
        for growth in all {
            text += "\n\(growth.habit.name): a capture \(growth.captures.text)"
            text += "; an hourly run that prunes nothing \(growth.quietRuns.text)"
            if !growth.prunes.isEmpty { text += "; one that prunes \(growth.prunes.text)" }
            text += "\n"
        }
        return text
    }

    private static func mebibytes(_ bytes: Int) -> String { "\((bytes + (1 << 19)) >> 20) MiB" }
}
