// Codable values in files: those shipped with a program, and those it exports.

internal import ArchiveFormat
internal import FileIO
public import Foundation
internal import Glibc
internal import Roots
internal import SystemPackage

/// Loads and saves any Codable value as a JSON file, without an archive.
///
/// A `VersionedState` of version 2 or more, or such a part, stores its version as the member `@stateVersion`; without
/// it the version is 1. Older versions are migrated when they are loaded.
public enum StateFile {
    /// The value in the JSON file at `url`.
    ///
    /// - Throws: `StateError`: `file` if it cannot be read, `undecodable` if it holds something else.
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

    /// Saves `state` as a JSON file at `url`.
    ///
    /// When this returns, the file is complete and durable. If it throws, the file is unchanged.
    ///
    /// - Throws: `StateError`: `unencodable`, or `file` if it cannot be written.
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

    /// The path of the file on this machine that `url` names.
    ///
    /// - Throws: `StateError.file` if it names anything else, because its path would name another file.
    private static func path(of url: URL) throws(StateError) -> FilePath {
        let isLocal = ["", "localhost"].contains(url.host() ?? "")
        let text = url.path(percentEncoded: false)
        guard url.isFileURL, isLocal, !text.isEmpty, !text.utf8.contains(0) else {
            throw .file(
                ArchiverError(
                    .noSuchPath, "\(url.absoluteString) is not a file on this machine",
                    remedy: "name a file, for instance by URL(filePath:)"))
        }
        return FilePath(text)
    }
}
