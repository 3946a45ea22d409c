// Reading and writing small files completely.

internal import FileIO
internal import Glibc
internal import SystemPackage

/// Files of text.
enum TextFile {
    static func read(_ path: FilePath) throws -> String {
        guard let file = fopen(path.string, "r") else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces the content of the file by `bytes`, or appends them.
    static func write(_ bytes: [UInt8], to path: FilePath, appending: Bool = false) throws {
        guard let file = fopen(path.string, appending ? "a" : "w") else {
            throw BenchmarkError("\(path): \(Errno(rawValue: errno))")
        }
        let written = fwrite(bytes, 1, bytes.count, file)
        let result = fclose(file)
        guard written == bytes.count, result == 0 else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
    }

    static func write(_ text: String, to path: FilePath, appending: Bool = false) throws {
        try write(Array(text.utf8), to: path, appending: appending)
    }
}
