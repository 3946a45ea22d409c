// Small programs that keep their state in an archive; fixtures/states shows them at work.

import ArchiverKit
import ArgumentParser

@main
struct Examples: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "examples",
        abstract: "Programs that keep their state in an archive ($ARCHIVER_ARCHIVE, else the usual one).",
        subcommands: [
            GameExample.self, UserExample.self, CounterExample.self, QuizExample.self, AlbumsExample.self,
            NetworkExample.self, CoversExample.self, TimelineExample.self,
        ])
}

extension Archive {
    /// The archive of all examples.
    static func forExamples() throws -> Archive { try Archive.open(creating: true) }
}
