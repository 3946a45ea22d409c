// Makes the service start by itself: by systemd, by the desktop, or by a line for cron.

internal import Archives
internal import Configuring
internal import FileIO
internal import Glibc
internal import SystemPackage

/// How the service of a user or of the machine is started.
struct ServiceStart {
    let isOfSystem: Bool
    /// The directory below which the machine's files are written, for packages and tests; nil for `/`.
    let destination: FilePath?

    /// How the service starts now.
    enum Way {
        /// By systemd; `isChanged` if its unit was written.
        case systemd(isChanged: Bool)
        /// By the desktop, at the next login, because systemd cannot.
        case desktop(FilePath, isChanged: Bool, withoutSystemd: String)
        /// By a line that the user adds, because systemd cannot.
        case cron(String, withoutSystemd: String)
    }

    // MARK: Enabling

    /// Installs the unit and starts the service; without systemd, whatever else can start it.
    func enable(archive: FilePath) throws -> Way {
        let path = try UnitFile.path(isOfSystem: isOfSystem, below: destination)
        let unit = UnitFile.present(isOfSystem: isOfSystem, archive: archive)
        let former = try? ServiceStart.text(of: path)
        let isOurs = former?.hasPrefix(UnitFile.mark) ?? true
        let isChanged = isOurs && former != unit.text
        if isChanged { try ServiceStart.write(unit.text, to: path) }
        let starting = ["enable", "--quiet", "--now", UnitFile.name]
        guard let reason = complaint(about: ["daemon-reload"]) ?? complaint(about: starting) else {
            return .systemd(isChanged: isChanged)
        }
        // Nothing reads the unit.
        if isChanged, former == nil { _ = path.withPlatformString { unlink($0) } }
        let command = "\(ShellWord.text(unit.program.bytes)) service" + (isOfSystem ? " --system" : "")
        guard !isOfSystem, ServiceStart.hasDesktop else { return .cron("@reboot \(command)", withoutSystemd: reason) }
        let entry = try autostart()
        let text = ServiceStart.desktopEntry(unit.program)
        let isNew = (try? ServiceStart.text(of: entry)) != text
        if isNew { try ServiceStart.write(text, to: entry) }
        return .desktop(entry, isChanged: isNew, withoutSystemd: reason)
    }

    // MARK: Disabling

    /// Stops the service, and takes back what `enable` has written.
    ///
    /// - Returns: whether there was anything to take back.
    func disable() throws -> Bool {
        let path = try UnitFile.path(isOfSystem: isOfSystem, below: destination)
        var isDone = false
        if let text = try? ServiceStart.text(of: path) {
            _ = complaint(about: ["disable", "--quiet", "--now", UnitFile.name])
            if text.hasPrefix(UnitFile.mark) {
                try ServiceStart.remove(path)
                _ = complaint(about: ["daemon-reload"])
            }
            isDone = true
        }
        if !isOfSystem, case let entry = try autostart(), (try? ServiceStart.text(of: entry)) != nil {
            try ServiceStart.remove(entry)
            isDone = true
        }
        return isDone
    }

    // MARK: Systemd

    /// Runs systemctl(1).
    ///
    /// - Returns: what it says if it fails, in one line; nil if it succeeds.
    private func complaint(about words: [String]) -> String? {
        let all = ["systemctl"] + (isOfSystem ? [] : ["--user"]) + words
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return "\(Errno.current)" }
        let output = Descriptor(owning: ends[0])
        let input = ends[1]
        // The program itself gets a copy.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        guard let program = try? ChildProgram(all.map { Array($0.utf8) }, error: input) else {
            close(input)
            return "there is no systemctl"
        }
        close(input)
        let said = try? output.readToEnd(limit: 1 << 16, path: "systemctl")
        if program.wait() == 0 { return nil }
        let lines = String(decoding: said ?? [], as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.first.map(String.init) ?? "systemctl failed"
    }

    /// Whether the user's services run while the user is not logged in; nil for the machine's.
    var isLingering: Bool? {
        guard !isOfSystem, let name = AccountNames().owner(getuid()) else { return nil }
        return FileIdentity(at: FilePath("/var/lib/systemd/linger").appending(name)) != nil
    }

    // MARK: Desktop

    private static var hasDesktop: Bool {
        ["XDG_CURRENT_DESKTOP", "WAYLAND_DISPLAY", "DISPLAY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
    }

    private func autostart() throws -> FilePath {
        try UnitFile.configurationHome().appending("autostart").appending("archiver.desktop")
    }

    private static func desktopEntry(_ program: FilePath) -> String {
        // Quoted as the Desktop Entry Specification says; a backslash is doubled once more in a text value.
        var command = ""
        for character in program.string {
            switch character {
            case "\"", "`", "$": command += "\\\\" + String(character)
            case "\\": command += "\\\\\\\\"
            case "%": command += "%%"
            default: command.append(character)
            }
        }
        return """
            [Desktop Entry]
            Type=Application
            Name=archiver
            Comment=Capture every change of the configured directories
            Exec="\(command)" service
            NoDisplay=true

            """
    }

    // MARK: Files

    private static func text(of path: FilePath) throws -> String {
        let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        return String(decoding: try file.readToEnd(limit: 1 << 20, path: path), as: UTF8.self)
    }

    private static func write(_ text: String, to path: FilePath) throws {
        let folder = path.removingLastComponent()
        try ConfigurationFile.createDirectory(folder)
        let name = path.lastComponent?.string ?? UnitFile.name
        try DurableFile.replace(
            directory: folder, name: name, contents: Array(text.utf8), permissions: 0o644, isExact: true)
    }

    private static func remove(_ path: FilePath) throws {
        if path.withPlatformString({ unlink($0) }) != 0, errno != ENOENT {
            throw FileError("remove", path, .current)
        }
    }
}
