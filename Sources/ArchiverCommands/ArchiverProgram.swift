// Runs the program: parses the arguments, runs the command, reports errors and exits with a status.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Glibc

/// A command that runs until it is stopped, and handles signals itself.
protocol LastingCommand: AsyncParsableCommand, Sendable {}

/// The `archiver` program.
package enum ArchiverProgram {
    /// Runs the command that the process's arguments name, and exits.
    ///
    /// Runs on the main thread, where commands may block, because it is not part of Swift's cooperative pool.
    package static func run() -> Never {
        CurrentProcess.reserveStandardDescriptors()
        CurrentProcess.limitHeaps()
        // A closed pipe is reported by write(2) as EPIPE instead.
        signal(SIGPIPE, SIG_IGN)
        Archive.readReplicas()
        Signals.block(Signals.progress)
        let arguments = ByteArgument.ofProcess()
        // libdispatch tells the system's log about each thread whose priority it may not raise, as for tasks of the main
        // thread. The programs that these commands are for must not inherit this.
        if !startingOthers.contains(arguments.first ?? "") { setenv("LIBDISPATCH_LOG", "NO", 0) }
        var lasting: (any LastingCommand)?
        let status = ending(arguments) {
            var command = try parse(arguments)
            lasting = command as? any LastingCommand
            if lasting == nil { try command.run() }
        }
        if let lasting { run(lasting, arguments) }
        Pager.finish()
        end(status)
    }

    /// Ends the process without what libraries do at the exit: threads may still wait for a store, and use them.
    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }

    /// Commands whose work is to start a program of the user.
    private static let startingOthers: Set = ["run", "bisect"]

    /// The command that the arguments name, and its options.
    ///
    /// The parser describes every level of commands to itself several times. If the first argument is a command, it is
    /// tried alone; whatever it refuses is parsed as a whole, as are help and commands of commands.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let rest = Array(arguments.dropFirst())
        let command = ArchiverCommand.configuration.subcommands.first {
            $0.configuration.commandName == arguments.first
        }
        if let command, let parsed = try? command.parseAsRoot(rest), type(of: parsed) == command { return parsed }
        return try ArchiverCommand.parseAsRoot(arguments)
    }

    /// Runs a lasting command, and exits when it ends.
    private static func run(_ command: any LastingCommand, _ arguments: [String]) -> Never {
        // SIGHUP even if it was ignored at the start: the service reads its configuration again.
        Signals.block(Signals.termination + [SIGHUP])
        Task.detached {
            let result: Result<Void, any Error>
            do {
                var command = command
                result = .success(try await command.run())
            } catch {
                result = .failure(error)
            }
            end(ending(arguments, result.get))
        }
        // Not dispatch_main(), which an asynchronous `main` calls: it unblocks all signals.
        while true { pause() }
    }

    /// Runs `body` and reports the error that it throws.
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
            // An error already reported takes precedence over a failure to write the remaining output.
            if status == ExitStatus.done.rawValue { status = report(error, arguments, isJSON: isJSON) }
        }
        return status
    }

    /// Reports the error that ended a command.
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
            // The parser throws help, the version and completion scripts as errors.
            let text =
                fullHelp(arguments) ?? helpTopic(arguments) ?? version(arguments, isJSON: isJSON)
                ?? firstHelp(error, arguments)
            try? Output.standard.line(text ?? help(error))
            try? Output.standard.flush()
            return ExitStatus.done.rawValue
        }
        let failure = Failure(error) ?? usage(error, arguments)
        FailureReport(failure).write(Output.error, isJSON: isJSON)
        return failure.status.rawValue
    }

    /// The parser's text, with the usage line wrapped, which the parser leaves long.
    private static func help(_ error: any Error) -> String {
        let columns = Output.standard.columns ?? 80
        let lines = ArchiverCommand.fullMessage(for: error, columns: columns).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.hasPrefix("USAGE: ") ? TextWrap.wrapped("  " + $0, to: columns).dropFirst(2) : $0 }
            .joined(separator: "\n")
    }

    /// The topic that lists all commands.
    private static let allCommands = "commands"

    /// The help of all commands; nil if another text is requested.
    private static func fullHelp(_ arguments: [String]) -> String? {
        words(arguments) == ["help", allCommands] ? help(CleanExit.helpRequest(ArchiverCommand.self)) : nil
    }

    /// The program's own help with the first commands only; nil if another text is requested.
    private static func firstHelp(_ error: any Error, _ arguments: [String]) -> String? {
        let words = words(arguments)
        guard words.isEmpty || words == ["help"] else { return nil }
        let lines = help(error).split(separator: "\n", omittingEmptySubsequences: false)
        guard let end = lines.firstIndex(where: { $0.hasPrefix("OPTIONS:") }) else { return nil }
        return (lines[..<end].map(String.init) + [CommandGroups.firstLines(columns: Output.standard.columns ?? 80)])
            .joined(separator: "\n")
    }

    /// The text of the requested help topic; nil if a command's help is requested.
    private static func helpTopic(_ arguments: [String]) -> String? {
        let words = words(arguments)
        guard words.first == "help", words.count > 1 else { return nil }
        return HelpTopic(rawValue: words[1])?.text(columns: Output.standard.columns ?? 80)
    }

    /// The version as JSON; nil unless `--version --json` is given.
    private static func version(_ arguments: [String], isJSON: Bool) -> String? {
        guard isJSON, arguments.contains("--version") else { return nil }
        return try? JSONText.of(VersionJSON())
    }

    /// The failure if help is requested for an unknown command, which the parser does not report.
    private static func unknownTopic(_ arguments: [String]) -> Failure? {
        let words = words(arguments)
        guard words.first == "help", words.count > 1, words[1] != "help", words[1] != allCommands,
            HelpTopic(rawValue: words[1]) == nil, !commandNames.contains(words[1])
        else { return nil }
        return unknownCommand(words[1], among: commandNames + HelpTopic.allCases.map(\.rawValue) + [allCommands])
    }

    private static func unknownCommand(_ word: String, among names: [String]) -> Failure {
        if word == "version" { return .usage("there is no command 'version'", remedy: "did you mean '--version'?") }
        if let remedy = Suggestion.remedy(forCommand: word) {
            return .usage("there is no command '\(word)'", remedy: remedy)
        }
        let nearest = Suggestion.words(for: word, among: names)
        return .usage(
            "there is no command '\(word)'",
            remedy: (nearest.map { "did you mean \($0)? " } ?? "") + "'archiver --help' lists the commands")
    }

    /// The arguments that are not options, determined without knowledge of the command.
    private static func words(_ arguments: [String]) -> [String] {
        var words: [String] = []
        var isValue = false
        for argument in arguments.prefix(while: { $0 != "--" }) {
            if !isValue, !argument.hasPrefix("-") { words.append(argument) }
            isValue = !isValue && argument == "--archive"
        }
        return words
    }

    static var commandNames: [String] {
        ArchiverCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// The failure for an error of the parser.
    private static func usage(_ error: any Error, _ arguments: [String]) -> Failure {
        if let first = arguments.first, let remedy = Suggestion.remedy(forFirst: first) {
            return .usage("unknown option '\(first)'", remedy: remedy + "; see 'archiver --help'")
        }
        if let word = words(arguments).first, word != "help", !commandNames.contains(word) {
            return unknownCommand(word, among: commandNames)
        }
        if ["help", "--help", "-h"].contains(arguments.first), arguments.contains("--all") || arguments.contains("-a") {
            return .usage("help has no options", remedy: "'archiver help \(allCommands)' lists all commands")
        }
        let message = ByteArgument.bytes(of: ArchiverCommand.message(for: error))
        let command = arguments.first { commandNames.contains($0) }
        let lines = message.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        // Of several readings of one word, the first is enough.
        var text = lines.prefix { !$0.hasPrefix("   or: ") && !$0.hasPrefix(" or: ") }.joined(separator: " ")
        if let option = unknownOption(arguments, command) { text = "Unknown option '\(option)'" }
        let remedy = remedy(for: text, command, arguments)
        // The parser also suggests options that are hardly similar.
        text = text.replacing(/\. Did you mean .*$/, with: "")
        let help = "see '\((["archiver"] + commandPath(arguments)).joined(separator: " ")) --help'"
        return .usage(
            text.prefix(1).lowercased() + text.dropFirst(), remedy: remedy.map { $0 + "; " + help } ?? help)
    }

    /// The names of the command that the arguments are for: `replica` and `add`.
    private static func commandPath(_ arguments: [String]) -> [String] {
        var path: [String] = []
        var commands = ArchiverCommand.configuration.subcommands
        for argument in arguments.prefix(while: { $0 != "--" }) {
            guard let command = commands.first(where: { $0.configuration.commandName == argument }) else { continue }
            path.append(argument)
            commands = command.configuration.subcommands
        }
        return path
    }

    /// The first long option that the command does not have.
    ///
    /// The parser looks for one last, after the command has checked its arguments: among them is then the option's value.
    private static func unknownOption(_ arguments: [String], _ command: String?) -> String? {
        let type = ArchiverCommand.configuration.subcommands.first { $0.configuration.commandName == command }
        guard let type, type.configuration.subcommands.isEmpty else { return nil }
        let known = Set(type.helpMessage(includeHidden: true).matches(of: /--[a-z][a-z0-9-]*/).map { String($0.0) })
        return arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
            .map { String($0.prefix { $0 != "=" }) }.first { !known.contains($0) }
    }

    /// What to write instead, for an option or a value that the parser refuses.
    private static func remedy(for text: String, _ command: String?, _ arguments: [String]) -> String? {
        let type = ArchiverCommand.configuration.subcommands.first { $0.configuration.commandName == command }
        let options = (type ?? ArchiverCommand.self).helpMessage(columns: 400)
        if let remedy = Suggestion.remedy(forOneHyphen: arguments, of: command, options) { return remedy }
        if command == "blame", text.hasPrefix("Unexpected argument") {
            return "a snapshot precedes its file with a colon: archiver blame latest~1:FILE"
        }
        if let match = text.firstMatch(of: /Unknown option '([^']+)'/) {
            return Suggestion.remedy(for: String(match.1), of: command, options)
        }
        guard let match = text.firstMatch(of: /The value '([^']*)' is invalid for '[^']*<([a-z|]+)>'/) else {
            return nil
        }
        let value = String(match.1)
        let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        switch match.2 {
        case "span":
            return "a span is like 90m, 2h, 30d, 4w, 1y or forever"
                + (isNumber ? ": '\(value)d' means \(value) days" : "")
        case "duration": return "a duration is like 100ms, 2s, 3m or 1h"
        case "size": return "a size is like 500K, 100M or 2G"
        case "count" where command == "grep": return "line numbers are always shown, and -n limits the lines"
        case "count", "lines": return "it must be a whole number"
        default: return nil
        }
    }
}
