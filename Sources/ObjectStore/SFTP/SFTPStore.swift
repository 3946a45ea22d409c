// Objects as files on another machine, by SFTP through the user's own ssh.

internal import Dispatch
internal import FileIO
internal import Glibc
internal import Threading

/// Objects as files below a directory of another machine, which must exist.
///
/// The program `ssh` makes the connection, with the user's keys, agent, jump hosts and known hosts. It asks nothing, so a
/// watcher without a terminal does not hang. An object is written under a temporary name, made durable if the server can
/// (fsync@openssh.com), and gets its name by a hard link (hardlink@openssh.com) or by SFTP's own rename: neither replaces
/// a file.
package final class SFTPStore: ObjectStore {
    package let address: String
    private let command: [String]
    /// The directory, without a slash at the end.
    private let directory: String
    private let idle = Locked<[Box]>([])
    /// How many calls may have a session now.
    private let turns = DispatchSemaphore(value: SFTPStore.mostSessions)
    private let closing = StoreClosing()

    /// A session that no call uses at the moment.
    ///
    /// Only the thread that has taken it out of the list uses it.
    private struct Box: @unchecked Sendable {
        let session: SFTPSession
    }

    /// Each is a process of `ssh`, and servers refuse many that log in at the same time (MaxStartups in sshd_config(5)).
    private static let mostSessions = 4
    private static let tries = 4

    /// Makes a store, without a connection.
    ///
    /// A path that begins with `/~/` is below the user's home directory there.
    package convenience init(user: String?, host: String, port: UInt16?, path: String) {
        let target = user.map { "\($0)@\(host)" } ?? host
        let options = ["BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=15", "ServerAliveCountMax=3"]
        self.init(
            command: ["ssh"] + options.map { "-o\($0)" } + (port.map { ["-p", "\($0)"] } ?? [])
                + ["-s", "--", target, "sftp"],
            path: path, address: "sftp://\(target)\(port.map { ":\($0)" } ?? "")\(path)")
    }

    /// Makes a store that is reached by a program that speaks SFTP on its stdin and stdout.
    package init(command: [String], path: String, address: String) {
        var path = path.hasPrefix("/~/") ? String(path.dropFirst(3)) : path
        while path.hasSuffix("/") { path.removeLast() }
        directory = path.isEmpty ? "." : path
        self.command = command
        self.address = address
    }

    // MARK: ObjectStore

    package func put(_ name: ObjectName, from source: any ObjectSource) throws(ObjectStoreError) -> PutOutcome {
        let operation = naming("write", name, "to")
        return try connected(operation) { (session) throws(SFTPSession.Failure) in
            let path = path(name)
            if try attributes(of: path, session) != nil { return .exists }
            let parent = name.text.split(separator: "/").dropLast().map(String.init)
            try makeDirectories(parent, session)
            let temporary = "\(([directory] + parent).joined(separator: "/"))/\(SFTPStore.temporaryName())"
            let flags = SFTPMessage.OpenFlag.self
            let handle = try session.open(temporary, flags.write | flags.create | flags.mustBeNew, permissions: 0o600)
            do throws(SFTPSession.Failure) {
                try session.write(source, to: handle, operation)
                if session.supports("fsync@openssh.com") { try session.extended("fsync@openssh.com", [handle]) }
                try session.close(handle)
            } catch {
                if error.status != nil {
                    try? session.close(handle)
                    try? session.remove(temporary)
                }
                throw error
            }
            return try publish(temporary, as: path, session)
        }
    }

    /// Gives a complete file its name, unless another has it.
    private func publish(
        _ temporary: String, as path: String, _ session: SFTPSession
    ) throws(SFTPSession.Failure) -> PutOutcome {
        do throws(SFTPSession.Failure) {
            if session.supports("hardlink@openssh.com") {
                do throws(SFTPSession.Failure) {
                    try session.extended("hardlink@openssh.com", [Array(temporary.utf8), Array(path.utf8)])
                    try? session.remove(temporary)
                    return .created
                } catch {
                    if try session.attributes(path) != nil {
                        try? session.remove(temporary)
                        return .exists
                    }
                    // The file system has no hard links.
                    guard error.status != nil else { throw error }
                }
            }
            try session.rename(temporary, to: path)
            return .created
        } catch {
            let exists = (try? session.attributes(path)) != nil
            try? session.remove(temporary)
            if exists { return .exists }
            throw error
        }
    }

    package func get(_ name: ObjectName, _ range: Range<UInt64>?) throws(ObjectStoreError) -> [UInt8] {
        let operation = naming("read", name, "from")
        if let range, range.isEmpty { return [] }
        return try connected(operation) { (session) throws(SFTPSession.Failure) in
            guard let length = try attributes(of: path(name), session)?.length else {
                throw SFTPSession.Failure(status: .noSuchFile, code: .noSuchObject, message: "")
            }
            let range = (range ?? 0..<length).clamped(to: 0..<length)
            guard range.upperBound - range.lowerBound <= ObjectLimit.bytesInMemory else {
                throw SFTPSession.Failure(status: .failure, code: .tooLarge, message: "")
            }
            let handle = try session.open(path(name), SFTPMessage.OpenFlag.read)
            let bytes = try session.read(range, of: handle)
            try session.close(handle)
            return bytes
        }
    }

    package func length(of name: ObjectName) throws(ObjectStoreError) -> UInt64? {
        try connected(naming("find", name)) { (session) throws(SFTPSession.Failure) in
            try attributes(of: path(name), session)?.length
        }
    }

    package func list(_ prefix: String, _ body: (ObjectEntry) throws -> Void) throws {
        let operation = namingList(prefix)
        try ObjectTree.list(
            prefix,
            children: { (folder) throws(ObjectStoreError) in
                try connected(operation) { (session) throws(SFTPSession.Failure) in try children(of: folder, session)
                }
            }, body)
    }

    private func children(of folder: String, _ session: SFTPSession) throws(SFTPSession.Failure) -> [ObjectTreeItem] {
        let path = folder.isEmpty ? directory : "\(directory)/\(folder)"
        let entries: [(name: String, attributes: SFTPFields.Attributes)]
        do throws(SFTPSession.Failure) { entries = try session.list(path) } catch {
            guard error.status == .noSuchFile else { throw error }
            try checkDirectory(session)
            return []
        }
        var items: [ObjectTreeItem] = []
        for (name, attributes) in entries where !name.hasPrefix(".") {
            var found = attributes
            if found.mode == nil || found.length == nil {
                guard let asked = try session.attributes("\(path)/\(name)") else { continue }
                found = asked
            }
            if found.isDirectory == true { items.append(ObjectTreeItem(name: name, kind: .directory, length: 0)) }
            if found.isFile == true, let length = found.length {
                items.append(ObjectTreeItem(name: name, kind: .object, length: length))
            }
        }
        return items
    }

    package func delete(_ name: ObjectName) throws(ObjectStoreError) {
        try connected(naming("delete", name, "from")) { (session) throws(SFTPSession.Failure) in
            do throws(SFTPSession.Failure) { try session.remove(path(name)) } catch {
                guard error.status == .noSuchFile else { throw error }
                try checkDirectory(session)
            }
        }
    }

    package func close() {
        closing.close()
        // Their programs end with them.
        idle.withLock { $0 = [] }
    }

    // MARK: Paths

    private func path(_ name: ObjectName) -> String { "\(directory)/\(name)" }

    private static func temporaryName() -> String { String(decoding: TemporaryFile.newName().bytes, as: UTF8.self) }

    /// The attributes of an object; nil if there is none in the store, which exists.
    private func attributes(
        of path: String, _ session: SFTPSession
    ) throws(SFTPSession.Failure) -> SFTPFields.Attributes? {
        guard let found = try session.attributes(path) else {
            try checkDirectory(session)
            return nil
        }
        return found.isFile == false ? nil : found
    }

    /// Throws unless the store's directory exists: a missing mount is not an empty store.
    private func checkDirectory(_ session: SFTPSession) throws(SFTPSession.Failure) {
        let found = try session.attributes(directory, followingLinks: true)
        if let found, found.isDirectory != false { return }
        throw SFTPSession.Failure(status: .noSuchFile, code: .noSuchBucket, message: directory)
    }

    private func makeDirectories(
        _ components: [String], _ session: SFTPSession
    ) throws(SFTPSession.Failure) {
        var path = directory
        if components.isEmpty { return }
        let whole = ([directory] + components).joined(separator: "/")
        if try session.attributes(whole) != nil { return }
        for component in components {
            path += "/\(component)"
            do throws(SFTPSession.Failure) { try session.makeDirectory(path) } catch {
                // It exists, perhaps since a moment ago.
                guard error.status != nil, try session.attributes(path)?.isDirectory == true else { throw error }
            }
        }
    }

    // MARK: Sessions

    /// Calls `body` with a session; again with another one if the connection broke.
    private func connected<Result>(
        _ operation: String, _ body: (SFTPSession) throws(SFTPSession.Failure) -> Result
    ) throws(ObjectStoreError) -> Result {
        var number = 0
        while true {
            try closing.check(operation)
            do throws(SFTPSession.Failure) { return try once(operation, body) } catch {
                try closing.check(operation)
                number += 1
                guard error.status == nil, error.code == .unreachable, number < SFTPStore.tries else {
                    throw ObjectStoreError(error.code, operation, error.message)
                }
                try closing.pause(.milliseconds(100 << (number - 1)) * Double.random(in: 1...2), operation)
            }
        }
    }

    private func once<Result>(
        _ operation: String, _ body: (SFTPSession) throws(SFTPSession.Failure) -> Result
    ) throws(SFTPSession.Failure) -> Result {
        turns.wait()
        defer { turns.signal() }
        let session: SFTPSession
        if let kept = idle.withLock({ $0.popLast() }) {
            session = kept.session
        } else {
            session = try SFTPSession(command, closing, operation)
        }
        do throws(SFTPSession.Failure) {
            let result = try closing.waking({ [number = session.number] in _ = shutdown(number, CInt(SHUT_RDWR)) }) {
                () throws(SFTPSession.Failure) in try body(session)
            }
            keep(session)
            return result
        } catch {
            // After an error of the server itself, the session goes on.
            guard error.status != nil else { throw error }
            let free = error.status == .failure ? session.freeBytes(directory) : nil
            keep(session)
            guard let free, free < 1 << 20 else { throw error }
            throw SFTPSession.Failure(status: .failure, code: .full, message: error.message)
        }
    }

    private func keep(_ session: SFTPSession) {
        guard !closing.isClosed else { return }
        idle.withLock { $0.append(Box(session: session)) }
    }
}
