// The directories that the programs work on.

internal import Glibc
internal import SystemPackage

/// A directory that can be recreated, always the same.
struct Corpus {
    /// Its name within the names of lines, such as `million` or `usr-share`.
    let name: String
    /// Its description in the table.
    let description: String
    /// Creates it at a path that does not exist.
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

    /// The largest generated corpus of a scale: at full scale, a million small files.
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
