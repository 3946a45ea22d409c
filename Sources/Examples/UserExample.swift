// Saves and loads any Codable value by title in one line: a user record that survives between runs.

import ArchiverKit
import ArgumentParser

struct User: Codable, Sendable, Equatable {
    var name: String
    var age: Int
}

struct UserExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Show the saved user, or save one.")

    @Argument(help: "The name of the user to save.")
    var name: String?

    @Option(help: "The user's age in years.")
    var age = 30

    func run() throws {
        let archive = try Archive.forExamples()
        if let name { try archive.save(User(name: name, age: age), as: "user") }
        do {
            let user: User = try archive.load(as: "user")
            print("\(user.name), \(user.age)")
        } catch StateError.noSuchState {
            print("empty")
        }
    }
}
