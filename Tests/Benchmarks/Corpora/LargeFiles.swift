// Large files: dense, sparse, with a byte inserted at the front, with a line appended.

internal import FileIO
internal import Glibc
internal import SystemPackage
internal import TestSupport

/// Creates large files, always the same ones.
enum LargeFiles {
    private static let pieceBytes = 1 << 20

    /// Creates a file of `bytes` bytes, half text and half noise, without repetitions.
    static func makeDense(at path: FilePath, bytes: Int, front: [UInt8] = []) throws {
        try writing(path) { file in
            var random = SeededGenerator(seed: UInt64(bytes))
            try file.write(front)
            for piece in 0..<(bytes / pieceBytes) {
                try Interruption.check()
                try file.write(piece.isMultiple(of: 2) ? random.noise(pieceBytes) : text(piece))
            }
        }
    }

    /// Creates a file of `bytes` bytes of noise.
    static func makeNoise(at path: FilePath, bytes: Int) throws {
        try writing(path) { file in
            var random = SeededGenerator(seed: UInt64(bytes))
            for start in stride(from: 0, to: bytes, by: pieceBytes) {
                try file.write(random.noise(min(pieceBytes, bytes - start)))
            }
        }
    }

    /// Overwrites `count` pages of a file with new noise.
    static func changePages(of path: FilePath, bytes: Int, count: Int, page: Int, seed: UInt64) throws {
        guard let file = fopen(path.string, "r+") else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
        defer { fclose(file) }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            guard fseek(file, random.below(bytes / page) * page, SEEK_SET) == 0 else {
                throw BenchmarkError("\(path): cannot seek")
            }
            try OpenFile(pointer: file, path: path).write(random.noise(page))
        }
        guard fflush(file) == 0 else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
    }

    /// Creates a sparse file of `bytes` bytes, with data in 1 of every 1,024 parts (1 MiB per GiB).
    static func makeSparse(at path: FilePath, bytes: Int) throws {
        try writing(path) { file in
            var random = SeededGenerator(seed: UInt64(bytes))
            let island = max(4_096, pieceBytes * bytes / (10 << 30))
            for start in stride(from: 0, to: bytes, by: bytes / 10) {
                guard fseek(file.pointer, start, SEEK_SET) == 0 else { throw BenchmarkError("\(path): cannot seek") }
                try file.write(random.noise(island))
            }
            fflush(file.pointer)
            guard ftruncate(fileno(file.pointer), bytes) == 0 else { throw BenchmarkError("\(path): cannot truncate") }
        }
    }

    /// Returns 1 MiB of lines as in a log, different for each `piece`.
    static func text(_ piece: Int) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(piece))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pieceBytes + 128)
        while bytes.count < pieceBytes {
            let number = random.next()
            let words = "request \(number) took \(number % 977) ms, status \(200 + number % 5)"
            bytes += Array("2026-11-21T10:15:30Z \(words)\n".utf8)
        }
        return Array(bytes.prefix(pieceBytes))
    }

    private struct OpenFile {
        let pointer: UnsafeMutablePointer<FILE>
        let path: FilePath

        func write(_ bytes: [UInt8]) throws {
            guard fwrite(bytes, 1, bytes.count, pointer) == bytes.count else {
                throw BenchmarkError("\(path): \(Errno(rawValue: errno))")
            }
        }
    }

    private static func writing(_ path: FilePath, _ body: (OpenFile) throws -> Void) throws {
        try Directory.create(path.removingLastComponent(), permissions: 0o755, durable: false)
        guard let file = fopen(path.string, "w") else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
        defer { fclose(file) }
        try body(OpenFile(pointer: file, path: path))
        guard fflush(file) == 0 else { throw BenchmarkError("\(path): \(Errno(rawValue: errno))") }
    }
}
