// Makes the service start by itself: by systemd, by the desktop, or by a line for cron.

internal import Archives
internal import CLinux
internal import Configuring
internal import FileIO
internal import Glibc
internal import Programs
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
        let folder = try UnitFile.directory(isOfSystem: isOfSystem, below: destination)
        let units = UnitFile.present(isOfSystem: isOfSystem, archive: archive)
        var (isChanged, new) = (false, [FilePath]())
        for unit in units.all {
            let path = folder.appending(unit.name)
            let former = try? ServiceStart.text(of: path)
            guard former?.hasPrefix(UnitFile.mark) ?? true, former != unit.text else { continue }
            try ServiceStart.write(unit.text, to: path)
            isChanged = true
            if former == nil { new.append(path) }
        }
        let starting = ["enable", "--quiet", "--now", UnitFile.name, UnitFile.timerName]
        guard let reason = complaint(about: ["daemon-reload"]) ?? complaint(about: starting) else {
            return .systemd(isChanged: isChanged)
        }
        // Nothing reads the units.
        for path in new { _ = path.withPlatformString { unlink($0) } }
        let command = "\(ShellWord.text(units.program.bytes)) service" + (isOfSystem ? " --system" : "")
        guard !isOfSystem, ServiceStart.hasDesktop else { return .cron("@reboot \(command)", withoutSystemd: reason) }
        let entry = try autostart()
        let text = ServiceStart.desktopEntry(units.program)
        let isNew = (try? ServiceStart.text(of: entry)) != text
        if isNew { try ServiceStart.write(text, to: entry) }
        return .desktop(entry, isChanged: isNew, withoutSystemd: reason)
    }

    /// Writes the units of a package.
    static func writePackagedUnits(isOfSystem: Bool, of program: FilePath, into folder: FilePath) throws {
        var units = UnitFile(isOfSystem: isOfSystem, program: program, archive: nil)
        units.isPackaged = true
        if isOfSystem { units.environment = UnitFile.ofSystemService }
        for unit in units.all { try write(unit.text, to: folder.appending(unit.name)) }
    }

    // MARK: Disabling

    /// Stops the service, and takes back what `enable` has written.
    ///
    /// - Returns: whether there was anything to take back.
    func disable() throws -> Bool {
        let folder = try UnitFile.directory(isOfSystem: isOfSystem, below: destination)
        var isDone = false
        let present = UnitFile.names.filter { (try? ServiceStart.text(of: folder.appending($0))) != nil }
        if !present.isEmpty {
            _ = complaint(about: ["disable", "--quiet", "--now", UnitFile.name, UnitFile.timerName])
            var isRemoved = false
            for path in present.map({ folder.appending($0) })
            where (try ServiceStart.text(of: path)).hasPrefix(UnitFile.mark) {
                try ServiceStart.remove(path)
                isRemoved = true
            }
            if isRemoved { _ = complaint(about: ["daemon-reload"]) }
            isDone = true
        }
        if !isOfSystem, case let entry = try autostart(), (try? ServiceStart.text(of: entry)) != nil {
            try ServiceStart.remove(entry)
            isDone = true
        }
        return isDone
    }

    // MARK: Cron

    /// The user's line for cron that starts the service; nil if there is none, or no cron.
    var cronLine: String? {
        guard let (status, table) = run(["crontab", "-l"], ofErrors: false), status == 0 else { return nil }
        return table.split(whereSeparator: \.isNewline).map(String.init).first { line in
            line.firstMatch(of: /^[ \t]*[^#].*archiver'? service/) != nil && line.contains("--system") == isOfSystem
        }
    }

    /// Runs a program.
    ///
    /// - Parameter ofErrors: whether its stderr is read, instead of its stdout; the other one is discarded or inherited.
    /// - Returns: its exit status and what it printed; nil if it cannot be run.
    private func run(_ words: [String], ofErrors: Bool) -> (status: Int32, said: String)? {
        var ends: [CInt] = [-1, -1]
        // The program itself gets a copy.
        guard clinux_pipe(&ends) == 0 else { return nil }
        let output = Descriptor(owning: ends[0])
        let input = ends[1]
        let nothing = clinux_openat(AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC, 0)
        let program = try? ChildProgram(
            words.map { Array($0.utf8) }, output: ofErrors ? nil : input, error: ofErrors ? input : nothing)
        close(input)
        close(nothing)
        guard let program else { return nil }
        let said = (try? output.readToEnd(limit: 1 << 20, path: "the output")) ?? []
        return (program.wait(), String(decoding: said, as: UTF8.self))
    }

    // MARK: Systemd

    /// Runs systemctl(1).
    ///
    /// - Returns: what it says if it fails, in one line; nil if it succeeds.
    private func complaint(about words: [String]) -> String? {
        let all = ["systemctl"] + (isOfSystem ? [] : ["--user"]) + words
        guard let (status, said) = run(all, ofErrors: true) else { return "there is no systemctl" }
        if status == 0 { return nil }
        let lines = said.split(whereSeparator: \.isNewline)
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
