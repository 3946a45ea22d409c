// Identifies this machine, even if it is renamed.

package import ArchiveFormat
package import FileIO
internal import Glibc
internal import SystemPackage

/// The machine that the program runs on.
package enum Machine {
    /// The machine's identity, which does not depend on its name.
    ///
    /// Derived from `$ARCHIVER_MACHINE_ID`, else from the system's machine id (machine-id(5)), else from random bytes in
    /// the user's state directory, else from the machine's name.
    package static let id = MachineID(deriving: secret)

    private static var secret: [UInt8] {
        if let chosen = environment("ARCHIVER_MACHINE_ID") { return Array(chosen.utf8) }
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let digits = digits(in: FilePath(path)) { return digits }
        }
        if let file = stateFile("machine-id"), let digits = ownDigits(in: file) { return digits }
        return Array(CurrentProcess.hostName.utf8)
    }

    /// The 32 hex digits in the file at `path`; nil for anything else, such as the empty file of a system image.
    private static func digits(in path: FilePath) -> [UInt8]? {
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK),
            let bytes = try? file.readToEnd(limit: 64, path: path)
        else { return nil }
        let digits = Array(bytes.prefix(32))
        guard digits.count == 32, digits.allSatisfy({ Hex.value($0) != nil }) else { return nil }
        return digits
    }

    /// Random digits, created once for this user on this machine.
    private static func ownDigits(in file: EnclosedPath) -> [UInt8]? {
        if let digits = digits(in: file.path) { return digits }
        try? file.parent.createDirectory(durable: true)
        let new = Array((0..<32).map { _ in Array("0123456789abcdef".utf8)[Int.random(in: 0..<16)] })
        // If another process is quicker, its digits count.
        try? DurableFile.create(file, contents: new)
        return digits(in: file.path)
    }

    /// A file in the user's state directory, whether it exists or not; nil if there is no such directory.
    ///
    /// What is created gets the owner of the directory that exists: a command that root runs with a user's environment
    /// leaves no file that the user may not change.
    package static func stateFile(_ name: String) -> EnclosedPath? {
        guard var existing = stateDirectory else { return nil }
        var missing: [FilePath.Component] = []
        while FileIdentity(at: existing) == nil, let last = existing.lastComponent {
            missing.insert(last, at: 0)
            existing.removeLastComponent()
        }
        return missing.reduce(EnclosedPath(existing)) { $0.appending($1.string) }.appending(name)
    }

    private static var stateDirectory: FilePath? {
        if let state = environment("XDG_STATE_HOME").map({ FilePath($0) }), state.isAbsolute {
            return state.appending("archiver")
        }
        return environment("HOME").map { FilePath($0).appending(".local/state/archiver") }
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
