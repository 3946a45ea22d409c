// The configuration file on disk: where it is, who may write it, and how it is replaced.

package import FileIO
internal import Glibc
package import SystemPackage

/// The configuration file of a user, or of the machine.
package struct ConfigurationFile: Sendable, Hashable {
    package let path: FilePath

    /// The machine's file.
    package static let ofSystem = ConfigurationFile(path: "/etc/archiver/config.toml")

    /// The most bytes of a file.
    private static let limit = 1 << 20

    package init(path: FilePath) { self.path = path }

    /// The user's file; nil if the user has no home directory.
    package static var ofUser: ConfigurationFile? {
        if let place = environment("XDG_CONFIG_HOME"), place.isAbsolute {
            return ConfigurationFile(path: place.appending("archiver").appending("config.toml"))
        }
        return home.map {
            ConfigurationFile(path: $0.appending(".config").appending("archiver").appending("config.toml"))
        }
    }

    /// The user's home directory: `$HOME`, or else the account's.
    package static var home: FilePath? {
        guard let home = environment("HOME") ?? AccountNames.home(of: getuid()), home.isAbsolute else { return nil }
        return home
    }

    private static func environment(_ name: String) -> FilePath? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return FilePath(platformString: value)
    }

    // MARK: Reading

    /// The file's content; nil if there is none.
    ///
    /// - Throws: `ConfigurationError` if it is not a file that only the user or root may write.
    package func read() throws(ConfigurationError) -> String? {
        guard let bytes = try bytes() else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(path, line: nil, "the file is not UTF-8", remedy: "save it as UTF-8")
        }
        return text
    }

    /// The file's content, checked; an empty document if there is no file.
    package func document() throws(ConfigurationError) -> ConfigurationDocument {
        guard let text = try read() else { return ConfigurationDocument(empty: path) }
        return try ConfigurationDocument(text, file: path)
    }

    private func bytes() throws(ConfigurationError) -> [UInt8]? {
        let content: (status: FileStatus, bytes: [UInt8])
        do throws(FileError) {
            // Without waiting for a writer, if it is a FIFO.
            let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            let status = try FileStatus.read(file)
            let isFile = status.kind == .file
            content = (status, isFile ? try file.readToEnd(limit: ConfigurationFile.limit, path: path) : [])
        } catch {
            if error.code == .noSuchFileOrDirectory || error.code == .notDirectory { return nil }
            throw ConfigurationError(path, line: nil, "\(error)", remedy: error.remedy)
        }
        if let fault = fault(of: content.status) { throw fault }
        return content.bytes
    }

    /// What is wrong with the file's kind, owner or permissions.
    private func fault(of status: FileStatus) -> ConfigurationError? {
        if status.kind != .file {
            return ConfigurationError(path, line: nil, "this is not a regular file", remedy: "put a file there")
        }
        if !ConfigurationFile.trustedOwners.contains(status.owner) {
            return ConfigurationError(
                path, line: nil, "the file belongs to the user \(status.owner), who could change what is captured",
                remedy: "it must belong to you or to root")
        }
        if status.permissions & 0o022 != 0 {
            return ConfigurationError(
                path, line: nil, "others may write the file, and so change what is captured",
                remedy: "chmod go-w '\(path)'")
        }
        return nil
    }

    /// The users whose files are used: this one, root, and for root by sudo(8) the user who called it.
    private static var trustedOwners: Set<UInt32> {
        var users: Set<UInt32> = [0, geteuid()]
        if geteuid() == 0, let user = getenv("SUDO_UID"), let number = UInt32(String(cString: user)) {
            users.insert(number)
        }
        return users
    }

    // MARK: Replacing

    /// Creates the directory at `path`, and its missing parents.
    package static func createDirectory(_ path: FilePath) throws(FileError) {
        var (existing, missing) = (path, [FilePath.Component]())
        while FileIdentity(at: existing) == nil, let last = existing.lastComponent {
            missing.insert(last, at: 0)
            existing.removeLastComponent()
        }
        let directory = missing.reduce(EnclosedPath(existing)) { $0.appending($1.string) }
        try directory.createDirectory(durable: true)
    }

    /// Replaces the file, or creates it with its directories: a crash leaves the old content or the new one.
    ///
    /// A link is followed, as people keep such files elsewhere. The file keeps its permissions.
    package func replace(_ text: String) throws(FileError) {
        var target = path
        if let real = path.withPlatformString({ realpath($0, nil) }) {
            defer { free(real) }
            target = FilePath(platformString: real)
        }
        let folder = target.removingLastComponent()
        try ConfigurationFile.createDirectory(folder)
        var permissions: UInt16 = 0o644
        if let file = try? Descriptor.open(target, O_RDONLY), let status = try? FileStatus.read(file) {
            permissions = status.permissions
        }
        let name = target.lastComponent.map { FilePath(root: nil, [$0]).string } ?? "config.toml"
        try DurableFile.replace(
            directory: folder, name: name, contents: Array(text.utf8), permissions: permissions)
    }
}
