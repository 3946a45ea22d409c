// An archive with many versions of one large file.

internal import ArchiverKit
internal import FileIO
internal import Glibc
internal import SystemPackage

/// An archive with many versions of a file of 100 MB; one line changes each time.
enum LargeVersions {
    static let file = "large.txt"
    static let bytes = 100_000_000
    /// The lines of text at the beginning of the file; the rest is a hole, as reading all of it ten thousand times
    /// would take hours.
    private static let lines = 10_000

    static func tree(in place: FilePath) -> FilePath { place.appending("tree") }
    static func store(in place: FilePath) -> FilePath { place.appending("archive") }

    /// Creates the archive in `place`, with `count` versions.
    static func make(in place: FilePath, versions count: Int) throws {
        let (tree, path) = (tree(in: place), tree(in: place).appending(file))
        try Directory.create(tree, permissions: 0o755, durable: false)
        let text = (0..<lines).map { line(of: 0, $0) }.joined()
        try TextFile.write(text, to: path)
        guard truncate(path.string, off_t(bytes)) == 0 else {
            throw BenchmarkError("\(path): \(Errno(rawValue: errno))")
        }
        let archive = try Archive.open(store(in: place), creating: true)
        let number = open(path.string, O_WRONLY | O_CLOEXEC)
        defer { close(number) }
        for version in 1...count {
            try Interruption.check()
            let place = version * 7919 % lines
            let changed = Array(line(of: version, place).utf8)
            guard pwrite(number, changed, changed.count, off_t(place * changed.count)) == changed.count else {
                throw BenchmarkError("\(path): \(Errno(rawValue: errno))")
            }
            guard try archive.capture(tree).snapshot != nil else {
                throw BenchmarkError("version \(version) made no snapshot")
            }
        }
    }

    /// A line of 40 bytes.
    private static func line(of version: Int, _ number: Int) -> String {
        func digits(_ number: Int) -> String { String(String(100_000_000 + number).dropFirst()) }
        return "line \(digits(number)) of version \(digits(version)) \n"
    }
}
