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
    /// When this returns, the file is complete and durable. If it throws, the file is unchanged. A file that is replaced
    /// keeps its permissions. If `url` names a symbolic link, the file that it leads to is replaced.
    ///
    /// - Throws: `StateError`: `unencodable`, or `file` if it cannot be written.
    public static func save(_ state: some Encodable, to url: URL) throws(StateError) {
        let path = try path(of: url)
        let bytes: [UInt8]
        do { bytes = try StateCoding(form: .json).encodeMarked(state) } catch {
            throw .unencodable(title: path.string, cause: error)
        }
        do {
            let place = try StateFile.target(of: path)
            var status = stat()
            let exists = place.withPlatformString { stat($0, &status) } == 0
            try DurableFile.replace(
                directory: place.removingLastComponent(), name: place.lastComponent?.string ?? "", contents: bytes,
                permissions: exists ? UInt16(status.st_mode & 0o777) : 0o666, isExact: exists)
        } catch {
            throw .file(ArchiverError(any: error))
        }
    }

    /// The most symbolic links that are followed, as in the kernel (path_resolution(7)).
    private static let linkLimit = 40

    /// The place of the file that `path` leads to through symbolic links; the file need not exist.
    private static func target(of path: FilePath) throws -> FilePath {
        var place = path
        for _ in 0..<linkLimit {
            let parent = place.removingLastComponent()
            let link = try place.withPlatformString { name throws(FileError) -> FilePath? in
                var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
                let length = readlink(name, &bytes, bytes.count - 1)
                // Neither a missing file nor one that is no link has a target; any other error shows in the write.
                return length > 0 ? FilePath(platformString: bytes) : nil
            }
            guard let link else { return place }
            place = link.isAbsolute ? link : parent.pushing(link)
        }
        throw FileError("open", path, .tooManySymbolicLinkLevels)
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
