// Directories named on the command line.

internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A path of the system, given as an argument.
struct PathArgument: ExpressibleByArgument, Sendable, Hashable {
    let path: FilePath

    init?(argument: String) {
        let bytes = ByteArgument.bytes(of: argument)
        if bytes.isEmpty { return nil }
        path = FilePath(bytes: bytes)
    }

    var defaultValueDescription: String { Escaping.text(path.bytes) }

    static var defaultCompletionKind: CompletionKind { .directory }
}

extension FilePath {
    /// The path from `/` on, with links resolved as far as it exists: what a directory that is gone was called.
    var resolved: FilePath {
        if let real = withPlatformString({ realpath($0, nil) }) {
            defer { free(real) }
            return FilePath(platformString: real)
        }
        guard let name = lastComponent, name.kind == .regular else { return lexicallyNormalized() }
        let parent = removingLastComponent()
        return (parent.isEmpty ? FilePath(".") : parent).resolved.appending(name)
    }

    /// The process's current directory; nil where it is gone.
    static var currentDirectory: FilePath? {
        guard let pointer = getcwd(nil, 0) else { return nil }
        defer { free(pointer) }
        return FilePath(platformString: pointer)
    }
}
