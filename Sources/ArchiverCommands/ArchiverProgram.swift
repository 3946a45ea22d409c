// The program from its arguments to its exit status.

internal import ArgumentParser
internal import FileIO
internal import Glibc

/// A command that goes on until somebody ends it, and hears signals itself.
protocol LastingCommand: AsyncParsableCommand, Sendable {}

/// The `archiver` program.
package enum ArchiverProgram {
    /// Does what the process's arguments say, and ends the process.
    ///
    /// Runs on the main thread, where commands may block: it is none of Swift's cooperative pool.
    package static func run() -> Never {
        // A reader that has gone shows as EPIPE.
        signal(SIGPIPE, SIG_IGN)
        Signals.block(Signals.progress)
        let arguments = ByteArgument.ofProcess()
        var lasting: (any LastingCommand)?
        let status = ending(arguments) {
            var command = try ArchiverCommand.parseAsRoot(arguments)
            lasting = command as? any LastingCommand
            if lasting == nil { try command.run() }
        }
        if let lasting { run(lasting, arguments) }
        Pager.finish()
        exit(status)
    }

    /// Runs a command that lasts until the end of the process.
    private static func run(_ command: any LastingCommand, _ arguments: [String]) -> Never {
        Signals.block(Signals.termination)
        Task.detached {
            let result: Result<Void, any Error>
            do {
                var command = command
                result = .success(try await command.run())
            } catch {
                result = .failure(error)
            }
            exit(ending(arguments, result.get))
        }
        // Not dispatch_main(), as an asynchronous `main` has it: that unblocks all signals.
        while true { pause() }
    }

    /// Does `body` and tells why it ended, unless all went well.
    ///
    /// - Returns: the exit status.
    private static func ending(_ arguments: [String], _ body: () throws -> Void) -> Int32 {
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        var status = ExitStatus.done.rawValue
        do {
            try body()
        } catch {
            status = report(error, arguments, isJSON: isJSON)
        }
        do {
            try Output.standard.flush()
        } catch {
            // What was already reported counts for more than that the rest could not be written.
            if status == ExitStatus.done.rawValue { status = report(error, arguments, isJSON: isJSON) }
        }
        return status
    }

    /// Tells why a command ended early.
    ///
    /// - Returns: the exit status.
    private static func report(_ error: any Error, _ arguments: [String], isJSON: Bool) -> Int32 {
        switch error {
        case is ClosedPipe: return ExitStatus.done.rawValue
        case let status as ExitStatus: return status.rawValue
        case let status as ChildStatus: return status.code
        default: break
        }
        if ArchiverCommand.exitCode(for: error).isSuccess {
            if let unknown = unknownTopic(arguments) {
                return self.report(unknown, arguments, isJSON: isJSON)
            }
            // Help, the version and completion scripts come as errors from the parser.
            let text = helpTopic(arguments) ?? version(arguments, isJSON: isJSON)
            try? Output.standard.line(text ?? help(error))
            try? Output.standard.flush()
            return ExitStatus.done.rawValue
        }
        let failure = Failure(error) ?? usage(error, arguments)
        FailureReport(failure).write(Output.error, isJSON: isJSON)
        return failure.status.rawValue
    }

    /// The parser's text, whose line of usage it does not wrap.
    private static func help(_ error: any Error) -> String {
        let columns = Output.standard.columns ?? 80
        let lines = ArchiverCommand.fullMessage(for: error, columns: columns).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.hasPrefix("USAGE: ") ? TextWrap.wrapped("  " + $0, to: columns).dropFirst(2) : $0 }
            .joined(separator: "\n")
    }

    /// The text of the topic that help is asked for; nil where that is a command.
    private static func helpTopic(_ arguments: [String]) -> String? {
        let words = words(arguments)
        guard words.first == "help", words.count > 1 else { return nil }
        return HelpTopic(rawValue: words[1])?.text(columns: Output.standard.columns ?? 80)
    }

    /// The version as JSON, where that is asked for.
    private static func version(_ arguments: [String], isJSON: Bool) -> String? {
        guard isJSON, arguments.contains("--version") else { return nil }
        return try? JSONText.of(VersionJSON())
    }

    /// A refusal where help is asked for on a command that there is none of, which the parser overlooks.
    private static func unknownTopic(_ arguments: [String]) -> Failure? {
        let words = words(arguments)
        guard words.first == "help", words.count > 1, words[1] != "help", HelpTopic(rawValue: words[1]) == nil,
            !commandNames.contains(words[1])
        else { return nil }
        return unknownCommand(words[1], among: commandNames + HelpTopic.allCases.map(\.rawValue))
    }

    private static func unknownCommand(_ word: String, among names: [String]) -> Failure {
        let nearest = Suggestion.nearest(to: word, among: names)
        return .usage(
            "there is no command '\(word)'",
            remedy: (nearest.map { "did you mean '\($0)'? " } ?? "") + "'archiver --help' lists the commands")
    }

    /// The arguments that are no options, as far as that can be told without knowing the command.
    private static func words(_ arguments: [String]) -> [String] {
        var words: [String] = []
        var isValue = false
        for argument in arguments.prefix(while: { $0 != "--" }) {
            if !isValue, !argument.hasPrefix("-") { words.append(argument) }
            isValue = !isValue && argument == "--archive"
        }
        return words
    }

    private static var commandNames: [String] {
        ArchiverCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// A refusal of the parser.
    private static func usage(_ error: any Error, _ arguments: [String]) -> Failure {
        if let word = words(arguments).first, word != "help", !commandNames.contains(word) {
            return unknownCommand(word, among: commandNames)
        }
        let message = ByteArgument.bytes(of: ArchiverCommand.message(for: error))
        let command = arguments.first { commandNames.contains($0) }.map { "archiver \($0)" } ?? "archiver"
        let lines = message.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let text = lines.joined(separator: " ")
        return .usage(text.prefix(1).lowercased() + text.dropFirst(), remedy: "'\(command) --help' explains it")
    }
}
