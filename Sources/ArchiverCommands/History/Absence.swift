// The error for a path that is not in a snapshot; it says whether the path was deleted, renamed or added later.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Errors and suggestions for paths that were not found.
enum Absence {
    /// The error for `path`, which is not in `snapshot`.
    static func failure(_ path: RelativePath, in snapshot: ListedSnapshot, _ context: RootContext) -> Failure {
        let paths = context.paths(in: snapshot.root)
        let name = Escaping.text(path)
        var message = "snapshot \(snapshot.id.short) holds no \(name)"
        var remedy = "'archiver show \(snapshot.id.short):' lists what it holds"
        // This only improves the message: if it fails, the plain message stays.
        switch try? context.archive.whereabouts(of: path, missingFrom: snapshot) {
        case .deleted(let lastName, let gone, let last):
            if lastName != path { message += ": it was renamed to \(Escaping.text(lastName))" }
            message += lastName == path ? ": it was" : ", and"
            message += " deleted \(LocalTime.text(gone.time)) in \(gone.id.short)"
            let argument = Array("\(last.id.short):".utf8) + paths.argument(for: lastName)
            // A restore in place needs the root by name, unless one is in it.
            let isIn = FilePath.currentDirectory?.starts(with: snapshot.root.path) ?? false
            let root = isIn && !context.isExplicit ? "" : " --root \(ShellWord.text(snapshot.root.path.bytes))"
            remedy = "'archiver restore \(ShellWord.text(argument))\(root)' brings it back"
        case .renamed(let other, let snapshot):
            message += ": it was renamed to \(Escaping.text(other)) \(LocalTime.text(snapshot.time))"
            let argument = Array("\(snapshot.id.short):".utf8) + paths.argument(for: other)
            remedy = "write \(ShellWord.text(argument))"
        case .calledBefore(let other):
            message += ": it was called \(Escaping.text(other)) then"
            let argument = Array("\(snapshot.id.short):".utf8) + paths.argument(for: other)
            remedy = "write \(ShellWord.text(argument))"
        case .addedLater(let snapshot):
            message += ": it was added \(LocalTime.text(snapshot.time)) in \(snapshot.id.short)"
            remedy = "name that snapshot or a later one"
        case .unknown(let nearest):
            if !nearest.isEmpty { remedy = suggestion(nearest, paths) }
        case nil: break
        }
        return Failure(
            status: .failed, code: ArchiverError.Code.noSuchPath.rawValue, message: message, remedy: remedy,
            path: path.bytes)
    }

    /// "did you mean a, b or c?", with paths as they can be typed in the current directory.
    static func suggestion(_ nearest: [RelativePath], _ paths: PathsInRoot) -> String {
        let names = nearest.map { Escaping.text(paths.argument(for: $0)) }
        let last = names.last ?? ""
        return "did you mean " + (names.count > 1 ? names.dropLast().joined(separator: ", ") + " or " : "") + last + "?"
    }
}
