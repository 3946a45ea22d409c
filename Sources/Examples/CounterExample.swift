// Several programs that change one state at the same time: no change is lost.

import ArchiverKit
import ArgumentParser
import Foundation

struct CounterExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counter", abstract: "Count on; several may do so at the same time.")

    @Option(help: "How far to count.")
    var times = 1

    func run() throws {
        let archive = try Archive.forExamples()
        for _ in 0..<times {
            let count = try archive.update("counter", startingFrom: 0) { count in
                count += 1
                return count
            }
            // At once, also into a pipe: it is saved.
            FileHandle.standardOutput.write(Data("counted to \(count)\n".utf8))
        }
    }
}
