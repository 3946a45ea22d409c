// The systemd units of the service and of the weekly check, for a user and for the machine, made from one template.

internal import Configuring
internal import FileIO
internal import Glibc
internal import SystemPackage

/// The texts of `archiver.service`, `archiver-check.service` and `archiver-check.timer`.
struct UnitFile {
    static let name = "archiver.service"
    static let checkName = "archiver-check.service"
    static let timerName = "archiver-check.timer"
    static let names = [name, checkName, timerName]
    /// The first line: a file that begins otherwise is the user's own and stays as it is.
    static let mark = "# Written by 'archiver enable'; 'archiver disable' removes it. Changes belong in a drop-in file."

    let isOfSystem: Bool
    /// The program's path.
    let program: FilePath
    /// The archive, which the service of the machine may write; nil if it is not known yet.
    let archive: FilePath?
    /// Whether the units belong to a package, not to 'archiver enable'.
    var isPackaged = false
    /// Variables that name other places than the usual ones.
    var environment: [(name: String, value: String)] = []

    /// The variables of the machine's service, which has no home directory.
    static let ofSystemService = [(name: "XDG_STATE_HOME", value: "/var/lib")]

    /// The variables that the service needs if the caller has them, because they name its files.
    private static let passedOn = homes + ["ARCHIVER_MACHINE_ID"]
    static let homes = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"]

    /// The unit for this program and this environment.
    static func present(isOfSystem: Bool, archive: FilePath?) -> UnitFile {
        let link: FilePath = "/proc/self/exe"
        var unit = UnitFile(isOfSystem: isOfSystem, program: link.resolved, archive: archive)
        unit.environment =
            isOfSystem
            ? ofSystemService
            : passedOn.compactMap { name in
                getenv(name).flatMap { $0.pointee == 0 ? nil : (name, String(cString: $0)) }
            }
        return unit
    }

    /// Where they are installed.
    static func directory(isOfSystem: Bool, below destination: FilePath? = nil) throws -> FilePath {
        if isOfSystem { return (destination ?? "/").pushing("etc/systemd/system") }
        return try configurationHome().appending("systemd").appending("user")
    }

    /// All units: their names and texts.
    var all: [(name: String, text: String)] {
        [(UnitFile.name, text), (UnitFile.checkName, checkText), (UnitFile.timerName, timerText)]
    }

    /// `~/.config`, where systemd and desktops look.
    static func configurationHome() throws -> FilePath {
        guard let file = ConfigurationFile.ofUser else {
            throw Failure.usage("there is no home directory: $HOME is not set", remedy: "set $HOME, or use --system")
        }
        return file.path.removingLastComponent().removingLastComponent()
    }

    private var head: String {
        isPackaged
            ? "# Installed with the program. 'archiver enable' writes a unit of its own, which takes precedence."
            : UnitFile.mark
    }

    private func lines(_ environment: [(name: String, value: String)]) -> String {
        environment.map { "Environment=" + UnitFile.quoted("\($0.name)=\($0.value)") + "\n" }.joined()
    }

    private var text: String {
        let command = "\(UnitFile.quoted(program.string)) "
        let option = isOfSystem ? " --system" : ""
        return """
            \(head)
            [Unit]
            Description=archiver: capture every change of the configured directories
            StartLimitIntervalSec=10min
            StartLimitBurst=5

            [Service]
            Type=notify
            NotifyAccess=main
            ExecStart=\(command)service\(option)
            ExecReload=\(command)reload\(option)
            \(lines(environment))\
            Restart=on-failure
            RestartSec=10s
            # A damaged archive, another service of the same file, a wrong configuration: a restart mends none of them.
            RestartPreventExitStatus=2 11 64
            # It was ended while it waited for its archive.
            SuccessExitStatus=143
            # Opening an archive may rebuild its catalogue; from then on the service extends the limit by itself.
            TimeoutStartSec=10min
            TimeoutStopSec=5min
            WatchdogSec=2min
            # A stopped process does not answer the watchdog's signal: it is killed soon after, not after TimeoutStopSec.
            TimeoutAbortSec=10s
            KillMode=mixed
            UMask=0077
            Nice=5
            IOSchedulingClass=best-effort
            IOSchedulingPriority=6
            MemoryHigh=1G

            # The service reads the roots, writes the archive, and listens at a socket of its own: it needs nothing else.
            \(UnitFile.confinement)
            \(isOfSystem ? UnitFile.runtime + ofSystem : "")\

            [Install]
            WantedBy=\(isOfSystem ? "multi-user" : "default").target

            """
    }

    private var checkText: String {
        // The command has no --system: the machine's file is found where this variable points.
        let machine = isOfSystem ? [("XDG_CONFIG_HOME", "/etc")] : []
        return """
            \(head)
            [Unit]
            Description=archiver: check the archive for damage

            [Service]
            Type=oneshot
            ExecStart=\(UnitFile.quoted(program.string)) check --part --quiet
            \(lines(machine + environment))\
            # There is no archive yet, or another check runs.
            SuccessExitStatus=10 11
            UMask=0077
            Nice=19
            IOSchedulingClass=idle
            MemoryHigh=2G

            \(UnitFile.confinement)
            \(isOfSystem ? ofSystem : "")
            """
    }

    private var timerText: String {
        """
        \(head)
        [Unit]
        Description=archiver: check the archive every week

        [Timer]
        OnCalendar=weekly
        RandomizedDelaySec=6h
        Persistent=true

        [Install]
        WantedBy=timers.target

        """
    }

    /// What a user's manager can enforce, too, without a user namespace, in which all other owners would look the same.
    private static let confinement = """
        NoNewPrivileges=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RestrictAddressFamilies=AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service fanotify_init fanotify_mark
        SystemCallErrorNumber=EPERM
        """

    /// Only the service has it: the directory is removed when its unit ends.
    private static let runtime = """
        RuntimeDirectory=archiver
        RuntimeDirectoryMode=0700

        """

    private var ofSystem: String {
        let writable = archive.map { "ReadWritePaths=" + UnitFile.quoted("-" + $0.string) + "\n" } ?? ""
        return """
            # To read the files of all users, and to give what it writes to the archive's owner.
            CapabilityBoundingSet=CAP_DAC_READ_SEARCH CAP_CHOWN CAP_FOWNER
            ProtectSystem=strict
            ProtectHome=read-only
            StateDirectory=archiver
            StateDirectoryMode=0700
            \(writable)\
            PrivateDevices=yes
            PrivateNetwork=yes
            IPAddressDeny=any
            ProtectClock=yes
            ProtectControlGroups=yes
            ProtectHostname=yes
            ProtectKernelLogs=yes
            ProtectKernelModules=yes
            ProtectKernelTunables=yes
            KeyringMode=private

            """
    }

    /// A word of a unit file (systemd.syntax(7), systemd.unit(5)): `%` begins a specifier, `$` a variable.
    static func quoted(_ word: String) -> String {
        var result = "\""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "%", "$": result += String(scalar) + String(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
