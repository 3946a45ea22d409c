// The program from its arguments to its exit status.

internal import ArgumentParser
internal import FileIO
internal import Glibc

/// The `archiver` program.
package enum ArchiverProgram {
    /// Does what the process's arguments say.
    ///
    /// Runs on the main thread, where commands may block: it is none of Swift's cooperative pool.
    ///
    /// - Returns: the exit status.
    @MainActor
    package static func run() async -> Int32 {
        // A reader that has gone shows as EPIPE.
        signal(SIGPIPE, SIG_IGN)
        let arguments = ByteArgument.ofProcess()
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        var status = ExitStatus.done
        do {
            try await run(arguments)
        } catch {
            status = report(error, arguments, isJSON: isJSON)
        }
        do {
            try Output.standard.flush()
        } catch {
            // What was already reported counts for more than that the rest could not be written.
            if status == .done { status = report(error, arguments, isJSON: isJSON) }
        }
        return status.rawValue
    }

    @MainActor
    private static func run(_ arguments: [String]) async throws {
        var command = try ArchiverCommand.parseAsRoot(arguments)
        if let watch = command as? WatchCommand {
            TerminationSignals.block()
            try await watch.run()
        } else {
            try command.run()
        }
    }

    /// Tells why a command ended early.
    ///
    /// - Returns: the exit status.
    private static func report(_ error: any Error, _ arguments: [String], isJSON: Bool) -> ExitStatus {
        switch error {
        case is ClosedPipe: return .done
        case let status as ExitStatus: return status
        default: break
        }
        if ArchiverCommand.exitCode(for: error).isSuccess {
            // Help, the version and completion scripts come as errors from the parser.
            try? Output.standard.line(ArchiverCommand.fullMessage(for: error))
            try? Output.standard.flush()
            return .done
        }
        let failure = Failure(error) ?? usage(error, arguments)
        FailureReport(failure).write(Output.error, isJSON: isJSON)
        return failure.status
    }

    /// A refusal of the parser.
    private static func usage(_ error: any Error, _ arguments: [String]) -> Failure {
        let message = ByteArgument.bytes(of: ArchiverCommand.message(for: error))
        let names = ArchiverCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        let command = arguments.first { names.contains($0) }.map { "archiver \($0)" } ?? "archiver"
        let lines = message.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let text = lines.joined(separator: " ")
        return .usage(text.prefix(1).lowercased() + text.dropFirst(), remedy: "`\(command) --help` explains it")
    }
}
