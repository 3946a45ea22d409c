// A timeline of snapshots with a data source and a delegate; prints a line for each selected moment.

import ArchiveFormat
import ArchiveStorage
import ArchiverKit
import ArgumentParser
import SystemPackage
import Timeline

struct TimelineExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Walk through the moments of a directory.")

    @Argument(help: "A directory with snapshots in the archive.")
    var directory: String

    @Option(parsing: .upToNextOption, help: "Steps: first, last, earlier, later, earlier-day, later-day.")
    var steps: [TimelineStep] = [.last]

    func run() throws {
        let archive = try Archive.forExamples()
        guard let root = try archive.root(holding: FilePath(directory)) else {
            throw ValidationError("the archive has no snapshots of \(directory)")
        }
        let cursor = TimelineCursor(ArchiveTimeline(archive, root: root))
        let view = LineView()
        cursor.delegate = view
        for step in steps { try cursor.take(step.step) }
    }
}

/// Prints the selected moment.
private final class LineView: TimelineDelegate {
    func timelineDidSelect(_ moment: ArchiveTimeline.Moment) {
        print("\(moment.label ?? moment.id.short): \(moment.totals.files) files, \(moment.changes.added) added")
    }

    func timelineDidReachEnd() { print("there is nothing further") }
}

enum TimelineStep: String, ExpressibleByArgument, CaseIterable {
    case first, last, earlier, later
    case earlierDay = "earlier-day"
    case laterDay = "later-day"

    var step: TimelineCursor<ArchiveTimeline>.Step {
        switch self {
        case .first: .first
        case .last: .last
        case .earlier: .earlier
        case .later: .later
        case .earlierDay: .earlierDay
        case .laterDay: .laterDay
        }
    }
}
