// `archiver reload`: makes the running service take over changes of the configuration.

internal import ArchiverKit
internal import ArgumentParser
internal import Configuring

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make the running service take over changes of the configuration.",
        discussion: """
            New roots are watched, removed ones end after a last capture, and changed rules and timing apply; no change \
            of a file is lost. Returns when that is done; the first capture of a new root may still run. If the file is \
            wrong, it says so, and the service goes on with what it had. SIGHUP does the same.

            Examples:
              archiver reload
              sudo archiver reload --system
            """)

    @OptionGroup var place: SystemOption
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let file = try place.file
        // A fault is reported even if no service runs.
        _ = try ServiceConfiguration(file)
        guard let change = try ServicePlace(file).reload() else {
            throw Failure(
                status: .failed, code: ArchiverError.Code.notWatched.rawValue, message: "no service runs",
                remedy: "'archiver enable' starts it")
        }
        Console(global).remark(change)
    }
}
