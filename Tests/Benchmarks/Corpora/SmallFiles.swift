// Many small files, with the same names and bytes every time.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Small files, 100 in each directory of two levels: `07/42/13.txt`.
struct SmallFiles {
    static let filesPerDirectory = 100
    /// The number of directories in the root.
    let outer: Int
    /// The number of directories in each of those.
    let inner: Int

    init(outer: Int, inner: Int) {
        self.outer = outer
        self.inner = inner
    }

    init(fanOut: Int) { self.init(outer: fanOut, inner: fanOut) }

    var count: Int { outer * inner * SmallFiles.filesPerDirectory }

    /// The path of the file `index` in `0..<count`, relative to the root.
    func path(_ index: Int) -> String {
        let (directory, file) = index.quotientAndRemainder(dividingBy: SmallFiles.filesPerDirectory)
        let (outer, inner) = directory.quotientAndRemainder(dividingBy: inner)
        return "\(SmallFiles.number(outer))/\(SmallFiles.number(inner))/\(SmallFiles.number(file)).txt"
    }

    /// The text of the file `index`: 1 to 16 lines, different in every file.
    static func content(_ index: Int) -> String {
        let line = "file \(index) of many\n"
        return String(repeating: line, count: 1 + index % 16)
    }

    /// Creates the files below `root`, which must not exist.
    func make(at root: FilePath) throws {
        for directory in 0..<(outer * inner) {
            try Interruption.check()
            let first = directory * SmallFiles.filesPerDirectory
            let path = root.appending(path(first)).removingLastComponent()
            try Directory.create(path, permissions: 0o755, durable: false)
            for index in first..<(first + SmallFiles.filesPerDirectory) {
                try TextFile.write(SmallFiles.content(index), to: root.appending(self.path(index)))
            }
        }
    }

    private static func number(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
}
