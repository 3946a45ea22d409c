// How an archive has grown.

/// What a year came to.
struct Growth: Codable {
    /// The archive at the end of a week.
    struct Sample: Codable {
        let captures: Int
        let snapshots: Int
        let segmentBytes: Int
        let catalogueBytes: Int

        var bytes: Int { segmentBytes + catalogueBytes }
    }

    let habit: Habit
    /// One a week.
    var samples: [Sample] = []
    /// How long captures took.
    var captures = Times()
    /// How long the hourly runs took that found nothing to give back, and the others.
    var quietRuns = Times()
    var prunes = Times()

    init(habit: Habit) { self.habit = habit }

    /// The sizes at a few ends of weeks, and the times, in Markdown.
    static func table(_ all: [Growth]) -> String {
        var text = "| | snapshots | segments | catalogue | in all |\n|---|---|---|---|---|\n"
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
            text += "; an hourly run with nothing to give back \(growth.quietRuns.text)"
            if !growth.prunes.isEmpty { text += "; one that gives space back \(growth.prunes.text)" }
            text += "\n"
        }
        return text
    }

    private static func mebibytes(_ bytes: Int) -> String { "\((bytes + (1 << 19)) >> 20) MiB" }
}
