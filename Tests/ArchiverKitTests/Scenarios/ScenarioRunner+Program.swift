// The scenario commands that act on a watcher process, or on its namespace.

import FileIO
import Glibc
import Testing
import TreeScripts

extension ScenarioRunner {
    /// Performs a line that needs the program or a namespace.
    ///
    /// - Returns: false if the line's first word is not such a command.
    func performOnProgram(_ line: Script.Line) async throws -> Bool {
        switch line.command {
        case "freeze": try needed(program, line).send(SIGSTOP)
        case "thaw": try needed(program, line).send(SIGCONT)
        case "kill":
            try await needed(program, line).kill()
            isWatching = false
        case "await": try await needed(program, line).wait(for: line.arguments.joined(separator: " "))
        case "limit":
            guard let count = line.arguments.first.flatMap({ Int($0) }) else {
                throw ScriptError(line.description, "to what?")
            }
            try await needed(namespace, line).limit(to: count)
        case "mount": try await mount(line)
        case "umount": try await unmount(line)
        default: return false
        }
        return true
    }

    /// `mount P` mounts a new file system, `mount Q P` the directory Q.
    private func mount(_ line: Script.Line) async throws {
        let paths = line.words.dropFirst()
        guard let point = paths.last else { throw ScriptError(line.description, "at what?") }
        let source = paths.count > 1 ? paths.first.map { place(of: $0) } : nil
        try await needed(namespace, line).mount(source, at: place(of: point))
        if let inside = RelativePath(point) { mountPoints.append(inside) }
    }

    private func unmount(_ line: Script.Line) async throws {
        guard let point = line.words.dropFirst().first else { throw ScriptError(line.description, "what?") }
        try await needed(namespace, line).unmount(place(of: point))
        mountPoints.removeAll { $0.bytes.elementsEqual(point) }
    }

    private func needed<Need>(_ need: Need?, _ line: Script.Line) throws -> Need {
        guard let need else { throw ScriptError(line.description, "the script does not say what it requires") }
        return need
    }
}
