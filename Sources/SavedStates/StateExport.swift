// Exports a saved state as a JSON file, for other programs and for `StateFile`.

internal import ArchiveFormat
package import ArchiveStorage
internal import Archives
internal import FileIO
internal import Glibc
package import Roots
package import SystemPackage

/// A state that was exported to a file, or would be.
package struct StateExport: Sendable, Hashable {
    /// The file.
    package let destination: FilePath
    /// Its size in bytes.
    package let bytes: Int
}

extension Archive {
    /// Writes `state` as JSON to a new file; the file appears complete or not at all.
    ///
    /// - Parameters:
    ///   - target: the file, or a directory; then the file in it is named after the title.
    ///   - isDryRun: whether to write nothing.
    /// - Throws: `ArchiverError` with the code `targetNotEmpty` if the file already exists.
    package func export(
        _ state: ListedState, to target: FilePath, isDryRun: Bool = false
    ) throws(ArchiverError) -> StateExport {
        let content = try content(of: state)
        return try facing {
            let destination = try NewFile(target, ifDirectory: StateFileName.of(state.title))
            var count = 0
            func write(_ sink: CBORJSONWriter.Sink) throws {
                count = 0
                try content.writeJSON(pretty: true) {
                    count += $0.count
                    try sink($0)
                }
                count += 1
                try sink([UInt8(ascii: "\n")])
            }
            if isDryRun { try write { _ in } } else { try destination.write(write) }
            return StateExport(destination: destination.path, bytes: count)
        }
    }
}

/// A file that does not exist yet, in a directory that does.
private struct NewFile {
    let path: FilePath
    private let directory: FilePath
    private let name: CName

    /// - Parameter ifDirectory: the file's name if `target` is a directory.
    init(_ target: FilePath, ifDirectory ownName: String) throws {
        // A path without a last name of its own, such as "..", is a directory.
        if let name = target.lastComponent, name.kind == .regular, !NewFile.isDirectory(target) {
            path = target
        } else {
            path = target.appending(ownName)
        }
        let parent = path.removingLastComponent()
        directory = parent.isEmpty ? "." : parent
        name = CName(path.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? [])
        let folder = try Descriptor.open(directory, O_RDONLY | O_DIRECTORY)
        if try FileStatus.read(name, in: folder) != nil { throw NewFile.taken(path) }
    }

    /// Creates the file with the content that `body` writes.
    func write(_ body: (CBORJSONWriter.Sink) throws -> Void) throws {
        do {
            try DurableFile.create(directory: directory, name: name, permissions: 0o666, body)
        } catch let error as FileError where error.code == .fileExists {
            throw NewFile.taken(path)
        }
    }

    private static func isDirectory(_ path: FilePath) -> Bool {
        (try? Descriptor.open(path, O_RDONLY | O_DIRECTORY)) != nil
    }

    private static func taken(_ path: FilePath) -> ArchiverError {
        ArchiverError(
            .targetNotEmpty, "\(path) already exists", remedy: "name a new file, or move that one away", path: path)
    }
}

/// File names for titles.
enum StateFileName {
    private static let suffix = ".json"
    /// NAME_MAX of Linux, in bytes.
    private static let limit = 255

    /// The file name for `title`, such as "Best Game Ever.json".
    ///
    /// Characters that would form a path, hide the file, look like an option or reorder text become "_".
    static func of(_ title: String) -> String {
        var name = String(
            String.UnicodeScalarView(title.unicodeScalars.map { isHarmless($0) ? $0 : "_" }))
        if name.hasPrefix(".") || name.hasPrefix("-") { name = "_" + name.dropFirst() }
        while name.utf8.count > limit - suffix.utf8.count { name.removeLast() }
        return name + suffix
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: scalar != "/" && !scalar.properties.isBidiControl
        }
    }
}
