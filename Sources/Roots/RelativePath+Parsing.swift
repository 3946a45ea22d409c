// Paths below a root from what people and other programs write.

public import FileIO

extension RelativePath {
    /// The path below a directory that `text` names, such as `chapter2.md`, `./figures/` or `.` for the directory itself.
    ///
    /// - Throws: `ArchiverError` with the code `noSuchPath` if `text` is absolute, has a component `..` or contains a NUL.
    ///   `Archive.locate` finds the root and the path of any file.
    public init(parsing text: String) throws(ArchiverError) {
        guard let path = RelativePath(normalizing: Array(text.utf8)) else {
            throw ArchiverError(
                .noSuchPath, "'\(text)' is not a path below a directory",
                remedy: "give it relative to its root, without '..'")
        }
        self = path
    }
}
