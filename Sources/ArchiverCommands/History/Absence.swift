// The error for a path that a snapshot does not hold: it says where it was last.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// Words about paths that are not where they were looked for.
enum Absence {
    /// The error for `path`, which `record` does not hold.
    static func failure(_ path: RelativePath, in record: ListedSnapshot, _ context: RootContext) -> Failure {
        let paths = context.paths(in: record.root)
        let name = Escaping.text(path)
        var message = "snapshot \(record.id.short) holds no \(name)"
        var remedy = "'archiver show \(record.id.short):' lists what it holds"
        // What is told here is help: that it cannot be had is no error of its own.
        switch try? context.archive.whereabouts(of: path, missingFrom: record) {
        case .deleted(let lastName, let gone, let last):
            if lastName != path { message += ": it was renamed to \(Escaping.text(lastName))" }
            message += lastName == path ? ": it was" : ", and"
            message += " deleted \(LocalTime.text(gone.time)) in \(gone.id.short)"
            let argument = Array("\(last.id.short):".utf8) + paths.argument(for: lastName)
            remedy = "'archiver restore \(ShellWord.text(argument))' brings it back"
        case .renamed(let other, let snapshot):
            message += ": it was renamed to \(Escaping.text(other)) \(LocalTime.text(snapshot.time))"
            let argument = Array("\(record.id.short):".utf8) + paths.argument(for: other)
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

    /// "did you mean a, b or c?", each as it can be typed here.
    static func suggestion(_ nearest: [RelativePath], _ paths: PathsInRoot) -> String {
        let names = nearest.map { Escaping.text(paths.argument(for: $0)) }
        let last = names.last ?? ""
        return "did you mean " + (names.count > 1 ? names.dropLast().joined(separator: ", ") + " or " : "") + last + "?"
    }
}
