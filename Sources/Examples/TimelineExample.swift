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
    var steps: [StepArgument] = [.last]

    func run() throws {
        let archive = try Archive.forExamples()
        guard let root = try archive.root(holding: FilePath(directory)) else {
            throw ValidationError("the archive has no snapshots of \(directory)")
        }
        let scroller = Scroller(ArchiveTimeline(archive, root: root))
        let view = LineView()
        scroller.delegate = view
        for step in steps { try scroller.take(step.step) }
    }
}

/// Prints the selected moment.
private final class LineView: ScrollerDelegate {
    func scroller(_ scroller: Scroller<ArchiveTimeline>, didSelect moment: ListedSnapshot) {
        print("\(moment.label ?? moment.id.short): \(moment.totals.files) files, \(moment.changes.added) added")
    }

    func scrollerDidReachEnd(_ scroller: Scroller<ArchiveTimeline>) { print("there is nothing further") }
}

enum StepArgument: String, ExpressibleByArgument, CaseIterable {
    case first, last, earlier, later
    case earlierDay = "earlier-day"
    case laterDay = "later-day"

    var step: TimelineStep {
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
