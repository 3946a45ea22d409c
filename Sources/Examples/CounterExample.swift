// Several programs change one state at the same time, and no change is lost.

import ArchiverKit
import ArgumentParser
import Foundation

struct CounterExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counter", abstract: "Count; several programs may count at the same time.")

    @Option(help: "How many times to count.")
    var times = 1

    func run() throws {
        let archive = try Archive.forExamples()
        for _ in 0..<times {
            let count = try archive.update("counter", startingFrom: 0) { count in
                count += 1
                return count
            }
            // Written unbuffered, so that a reader of a pipe sees each saved count immediately.
            FileHandle.standardOutput.write(Data("counted to \(count)\n".utf8))
        }
    }
}
