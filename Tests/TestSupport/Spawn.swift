// Starts programs that inherit nothing but what they are given.

internal import FileIO
internal import Glibc
internal import Programs
package import SystemPackage

/// The calls by which programs are started and awaited.
package enum Spawn {
    /// Starts a program; it has no signal blocked or ignored, as a test runner may have.
    ///
    /// - Parameters:
    ///   - words: the program, found in this process's path, and its arguments.
    ///   - directory: the directory in which it starts; nil for this process's.
    ///   - environment: all its variables; nil for those of this process.
    ///   - descriptors: the open files by their numbers in the program.
    /// - Returns: the process's id.
    package static func start(
        _ words: [[UInt8]], in directory: FilePath? = nil, environment: [String: String]? = nil,
        descriptors: [Int32: Int32]
    ) throws -> Int32 {
        try ChildProgram(
            words, descriptors: descriptors, environment: environment?.map { Array("\($0)=\($1)".utf8) }, in: directory
        ).id
    }

    /// Waits for the end of a child.
    ///
    /// - Returns: its exit status; minus the signal's number if a signal ended it.
    package static func waitForEnd(of id: Int32) -> Int32 {
        switch ChildProgram.end(of: id) {
        case .exited(let status): status
        case .killed(let signal): -signal
        case nil: .min
        }
    }

    /// A stream that no other child inherits; a pair of sockets, because Glibc's module does not export pipe2(2).
    package static func stream() throws -> (read: Int32, write: Int32) {
        var ends: [CInt] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else {
            throw ChildProcess.Failure(description: "socketpair: \(String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }
}
