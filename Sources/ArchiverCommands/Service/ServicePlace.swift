// Where a running service is found: its lock and its socket.

internal import ArchiveFormat
internal import ArchiverKit
internal import Configuring
internal import FileIO
internal import SystemPackage
internal import WatchControl

/// The lock and the socket of the service that follows a configuration file.
struct ServicePlace {
    let file: ConfigurationFile
    private let lock: EnclosedPath
    private let socket: EnclosedPath

    /// - Throws: `ArchiverError` if the user has no directory for them.
    init(_ file: ConfigurationFile) throws(ArchiverError) {
        self.file = file
        if file == .ofSystem {
            let folder = EnclosedPath("/run").appending("archiver")
            (lock, socket) = (folder.appending("service.lock"), folder.appending("service.socket"))
            return
        }
        // One user may try several files, by $XDG_CONFIG_HOME.
        let name = "service-\(ChunkID(hashing: file.path.bytes).hex.prefix(16))"
        guard let lock = Machine.stateFile(name + ".lock"), let socket = Machine.stateFile(name + ".socket") else {
            throw ArchiverError(
                .unsuitableSettings, "there is no home directory for the service's socket: $HOME is not set",
                remedy: "set $HOME, or use --system for the whole machine")
        }
        (self.lock, self.socket) = (lock, socket)
    }

    /// Takes the lock of the service.
    ///
    /// - Throws: `ArchiverError` with the code `locked`, naming the other process.
    func take() throws(ArchiverError) -> FileLock {
        do throws(FileError) {
            try lock.parent.createDirectory(durable: false)
            if let lock = try FileLock.tryExclusive(lock) { return lock }
        } catch { throw ArchiverError(error) }
        throw ArchiverError(
            .locked, "the service of \(file.path) runs already" + (holder.map { " as process \($0)" } ?? ""),
            remedy: "'archiver reload' makes it take over changes of the file")
    }

    /// The process of the running service; nil if none runs, or it cannot be told.
    var holder: Int32? { (try? FileLock.holder(of: lock)).flatMap { $0 }?.process }

    /// Listens for requests to the service; the caller holds the lock.
    ///
    /// - Returns: nil if the file system has no sockets: then SIGHUP is the only way to reload.
    func listen(_ answer: @escaping ControlServer.Answer) -> ControlServer? {
        try? ControlServer(at: socket, answer)
    }

    /// The latest lines of the running service's log, without names; nil if no service runs.
    func log() throws(ArchiverError) -> [String]? {
        try ControlClient.ask(ControlRequest(action: .log), about: file.path, at: socket.path, patience: .seconds(5))?
            .log
    }

    /// Makes the running service read its file again, and waits until the changes are in force.
    ///
    /// - Returns: what has changed; nil if no service runs.
    func reload() throws(ArchiverError) -> String? {
        let request = ControlRequest(action: .reload)
        do throws(ArchiverError) {
            // Without a limit: a removed root ends after a last capture.
            let response = try ControlClient.ask(request, about: file.path, at: socket.path, patience: nil)
            return response.map { $0.reloaded ?? "" }
        } catch {
            // The file's faults are the user's.
            guard error.message.hasPrefix(file.path.string + ":") else { throw error }
            throw ArchiverError(.unsuitableSettings, error.message, remedy: error.remedy, path: file.path)
        }
    }
}
