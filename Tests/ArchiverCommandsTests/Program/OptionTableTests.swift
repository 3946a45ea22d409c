// All options of all commands, as the program describes itself: one word has one meaning.

import FileIO
import Foundation
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking)
struct OptionTableTests {
    /// One word on the command line.
    private struct Option: Hashable {
        let word: String
        /// What follows the word; nil for a flag.
        let value: String?
        let meaning: String
    }

    @Test("every option has one meaning in all commands")
    func meanings() throws {
        let table = try OptionTableTests.table()
        #expect(table.count > 80)
        for (word, options) in Dictionary(grouping: table.keys, by: \.word) where options.count > 1 {
            Issue.record("\(word) has several meanings: \(options.map(\.meaning))")
        }
    }

    @Test("no command takes -n as anything but a number, and every dry run is --dry-run")
    func letters() throws {
        let table = try OptionTableTests.table()
        let number = table.keys.filter { $0.word == "-n" }
        #expect(number.map(\.value) == ["count"])
        for (option, commands) in table where option.meaning.hasPrefix("Show what would be") {
            #expect(option.word == "--dry-run", "\(commands)")
        }
    }

    @Test("every list has a window of rows and times, and shows one root or all of them")
    func lists() throws {
        let table = try OptionTableTests.table()
        func commands(_ word: String) -> Set<String> {
            table.filter { $0.key.word == word }.values.reduce(into: []) { $0.formUnion($1) }
        }
        // `changes` is about a span, not a number of rows; a pin may be of a state, which has no root.
        let lists = commands("--since").subtracting(["forget"])
        #expect(lists.count > 10)
        #expect(commands("--until").subtracting(["forget"]) == lists)
        #expect(lists.subtracting(commands("--limit")) == ["changes"])
        #expect(lists.subtracting(commands("--all")) == ["pin"])
    }

    @Test("the article lists every option with its meaning and its commands")
    func article() throws {
        let rows = try OptionTableTests.table().map { option, commands in
            let value = option.value.map { " *\($0)*" } ?? ""
            let all = commands.count > 30 ? "all" : commands.sorted().joined(separator: ", ")
            return "| `\(option.word)`\(value) | \(option.meaning.replacing("|", with: "\\|")) | \(all) |"
        }.sorted()
        let article = try CodeBlocks.file("Sources/ArchiverKit/ArchiverKit.docc/Options.md")
        let written = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        for row in Set(rows).subtracting(written).sorted() { Issue.record("missing: \(row)") }
        for row in Set(written).subtracting(rows).sorted() { Issue.record("not an option: \(row)") }
        #expect(written == written.sorted())
    }

    @Test("the help of every command fits 80 columns, and its examples can be pasted")
    func examples() throws {
        let outcome = try ChildProcess.run(Workplace.program, [Array("--experimental-dump-help".utf8)])
        let root = try #require(try JSON.object(outcome.output)["command"] as? [String: Any])
        var examples = 0
        func check(_ command: [String: Any], _ words: [String]) throws {
            let help = try ChildProcess.run(Workplace.program, (["help"] + words).map { Array($0.utf8) }).lines
            for line in help { #expect(line.count <= 80, "\(words): \(line)") }
            for line in (command["discussion"] as? String ?? "").split(separator: "\n") {
                let example = line.drop { $0 == " " }
                guard example.hasPrefix("archiver "), line.hasPrefix("  ") || words.isEmpty else { continue }
                examples += 1
                #expect(help.contains { $0.drop { $0 == " " } == example }, "\(words): \(example) is wrapped")
                // What follows the command is a comment for the shell.
                #expect(example.firstMatch(of: /[ ]{3,}[^# ]/) == nil, "\(example)")
            }
            for below in command["subcommands"] as? [[String: Any]] ?? [] {
                guard let word = below["commandName"] as? String, word != "help" else { continue }
                try check(below, words + [word])
            }
        }
        try check(root, [])
        #expect(examples > 60)
    }

    /// The commands of each option, from the parser's own description.
    private static func table() throws -> [Option: [String]] {
        let outcome = try ChildProcess.run(Workplace.program, [Array("--experimental-dump-help".utf8)])
        let command = try #require(try JSON.object(outcome.output)["command"] as? [String: Any])
        var table: [Option: [String]] = [:]
        add(command, named: "", to: &table)
        return table
    }

    private static func add(_ command: [String: Any], named name: String, to table: inout [Option: [String]]) {
        for argument in command["arguments"] as? [[String: Any]] ?? [] {
            guard let kind = argument["kind"] as? String, kind != "positional",
                argument["shouldDisplay"] as? Bool == true
            else { continue }
            for form in argument["names"] as? [[String: Any]] ?? [] {
                let isLong = form["kind"] as? String == "long"
                let option = Option(
                    word: (isLong ? "--" : "-") + (form["name"] as? String ?? ""),
                    value: kind == "option" ? argument["valueName"] as? String : nil,
                    meaning: argument["abstract"] as? String ?? "")
                if !name.isEmpty { table[option, default: []].append(name) }
            }
        }
        for below in command["subcommands"] as? [[String: Any]] ?? [] {
            let word = below["commandName"] as? String ?? ""
            if word != "help" { add(below, named: (name.isEmpty ? "" : name + " ") + word, to: &table) }
        }
    }
}
