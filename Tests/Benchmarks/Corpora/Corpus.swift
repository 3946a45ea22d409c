// The directories that the programs work on.

internal import Glibc
internal import SystemPackage

/// A directory that can be made anew, always the same.
struct Corpus {
    /// Its name in the names of lines, such as `million` or `usr-share`.
    let name: String
    /// What it is, for the table.
    let description: String
    /// Makes it at a path at which nothing is.
    let make: (FilePath) throws -> Void

    private init(_ name: String, _ description: String, _ make: @escaping (FilePath) throws -> Void) {
        self.name = name
        self.description = description
        self.make = make
    }

    /// A copy of the tree at `path`.
    static func copy(of path: FilePath) -> Corpus {
        let name = path.components.map(\.string).joined(separator: "-")
        return Corpus(name, "copy of \(path)") { try Command("cp", "-a", path.string, $0.string).run() }
    }

    /// The largest made corpus of a scale: a million small files, in earnest.
    static func million(_ scale: Scale) -> Corpus {
        let files = SmallFiles(fanOut: scale.fanOut)
        return Corpus("million", "\(Figure.count(files.count)) small files", files.make)
    }

    /// 100 files in each of `directories` directories.
    static func smallFiles(directories: Int) -> Corpus {
        let files = SmallFiles(outer: 1, inner: directories)
        return Corpus("files-\(files.count)", "\(Figure.count(files.count)) small files", files.make)
    }
}
