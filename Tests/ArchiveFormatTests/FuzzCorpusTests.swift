// Runs the inputs that fuzzing has collected in every test run.

import Foundation
import FuzzTargets
import TestSupport
import Testing

@Suite("Fuzzing")
struct FuzzCorpusTests {
    @Test("no input of the corpus crashes a decoder")
    func corpus() throws {
        let folder = Fixtures.goldenValues.deletingLastPathComponent().appending(path: "corpus")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 20)
        for file in files { try Data(contentsOf: file).withUnsafeBytes { FuzzTarget.run($0) } }
    }

    @Test("no input close to one of the corpus crashes a decoder")
    func changed() throws {
        let folder = Fixtures.goldenValues.deletingLastPathComponent().appending(path: "corpus")
        var random = SeededGenerator("Changed inputs of the corpus")
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let input = Array(try Data(contentsOf: file))
            for _ in 0..<200 where input.count > 1 {
                var bytes = input
                for _ in 0...random.below(3) { bytes[1 + random.below(bytes.count - 1)] = UInt8(random.below(256)) }
                bytes.withUnsafeBytes { FuzzTarget.run($0) }
            }
        }
    }
}
