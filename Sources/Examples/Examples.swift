// Small programs that store their states in an archive; fixtures/states shows sessions with them.

import ArchiverKit
import ArgumentParser
import Glibc
import SystemPackage

@main
struct Examples: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "examples",
        abstract: "Programs that store their states in an archive ($ARCHIVER_ARCHIVE, or the default one).",
        subcommands: [
            GameExample.self, UserExample.self, CounterExample.self, QuizExample.self, AlbumsExample.self,
            NetworkExample.self, CoversExample.self, TimelineExample.self,
        ])
}

extension Archive {
    /// The archive of all examples.
    static func forExamples() throws -> Archive {
        try Archive.open(getenv("ARCHIVER_ARCHIVE").map { FilePath(platformString: $0) }, creating: true)
    }
}
