// Codable values in files: what a program is shipped with, and what it exports.

internal import ArchiveFormat
internal import FileIO
public import Foundation
internal import Glibc
internal import Roots
internal import SystemPackage

/// Loads and saves any Codable value as a JSON file, in one line and without an archive.
///
/// A `VersionedState` of version 2 or more, or a part of that kind, has its version as the member `@stateVersion`; without
/// one it is of version 1. Older ones are migrated when they are loaded.
public enum StateFile {
    /// The value in the JSON file at `url`.
    ///
    /// - Throws: `StateError`: `file` where it cannot be read, `undecodable` where it holds something else.
    public static func load<State: Decodable>(
        _ type: State.Type = State.self, from url: URL
    ) throws(StateError) -> State {
        let path = try path(of: url)
        let bytes: [UInt8]
        do {
            let file = try Descriptor.open(path, O_RDONLY)
            bytes = try file.readToEnd(limit: .max, path: path)
        } catch {
            throw .file(ArchiverError(any: error))
        }
        return try StateCoding(form: .json, source: .file(path.string)).decodeMarked(type, from: bytes)
    }

    /// Saves `state` as a JSON file at `url`: it is there as a whole and durable when this returns, or as it was before.
    ///
    /// - Throws: `StateError`: `unencodable`, or `file` where it cannot be written.
    public static func save(_ state: some Encodable, to url: URL) throws(StateError) {
        let path = try path(of: url)
        let bytes: [UInt8]
        do { bytes = try StateCoding(form: .json).encodeMarked(state) } catch {
            throw .unencodable(title: path.string, cause: error)
        }
        do {
            try DurableFile.replace(
                directory: path.removingLastComponent(), name: path.lastComponent?.string ?? "",
                contents: bytes, permissions: 0o666)
        } catch {
            throw .file(ArchiverError(any: error))
        }
    }

    /// The path of the file that `url` names on this machine.
    ///
    /// - Throws: `StateError.file` where it names something else: its path would be another file's.
    private static func path(of url: URL) throws(StateError) -> FilePath {
        let isLocal = ["", "localhost"].contains(url.host() ?? "")
        let text = url.path(percentEncoded: false)
        guard url.isFileURL, isLocal, !text.isEmpty, !text.utf8.contains(0) else {
            throw .file(
                ArchiverError(
                    .noSuchPath, "\(url.absoluteString) is no file of this machine",
                    remedy: "name a file, for instance by URL(filePath:)"))
        }
        return FilePath(text)
    }
}
