// Paths of the file system on the command line.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A path of the file system, given as an argument.
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
    /// The absolute path, with symbolic links resolved in the part that exists.
    var resolved: FilePath {
        if let real = withPlatformString({ realpath($0, nil) }) {
            defer { free(real) }
            return FilePath(platformString: real)
        }
        guard let name = lastComponent, name.kind == .regular else { return lexicallyNormalized() }
        let parent = removingLastComponent()
        return (parent.isEmpty ? FilePath(".") : parent).resolved.appending(name)
    }

    /// The process's current directory; nil if it no longer exists.
    static var currentDirectory: FilePath? {
        guard let pointer = getcwd(nil, 0) else { return nil }
        defer { free(pointer) }
        return FilePath(platformString: pointer)
    }
}
