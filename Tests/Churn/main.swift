// `churn DIRECTORY OPERATIONS [SEED [touch]]`: changes the contents of DIRECTORY at random, as fast as possible.
//
// Several processes can work in one directory at the same time. There are few names, so that operations often collide;
// impossible operations are skipped. DIRECTORY/../outside must exist: objects are moved to it and back. With `touch`,
// files that were changed through mapped memory get a new time at the end.

internal import Glibc
internal import TestSupport

let words = CommandLine.arguments
guard words.count >= 3, let operations = Int(words[2]) else {
    let usage = "usage: churn DIRECTORY OPERATIONS [SEED [touch]]\n"
    _ = write(STDERR_FILENO, usage, usage.utf8.count)
    exit(2)
}
let random = words.dropFirst(3).first.flatMap { UInt64($0) }.map { SeededGenerator(seed: $0) } ?? SeededGenerator()
var churn = Churn(directory: words[1], touchesMapped: words.dropFirst(4).first == "touch", random)
print("churn: seed \(random.seed)")
let done = churn.run(operations)
print("churn: \(done) of \(operations) operations changed something")
