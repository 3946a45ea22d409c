// Starts programs that inherit nothing but what they are given.

internal import CLinux
internal import Glibc
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
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let directory { _ = clinux_spawn_in(&actions, directory.string) }
        for (number, source) in descriptors.sorted(by: { $0.key < $1.key }) {
            posix_spawn_file_actions_adddup2(&actions, source, number)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        guard let name = words.first else { throw ChildProcess.Failure(description: "no program is named") }
        let strings = CStrings(words)
        let variables = environment.map { CStrings($0.map { Array("\($0)=\($1)".utf8) }) }
        var id = pid_t()
        let result = posix_spawnp(
            &id, String(decoding: name, as: UTF8.self), &actions, &attributes, strings.pointers,
            variables?.pointers ?? environ)
        guard result == 0 else {
            let name = String(decoding: name, as: UTF8.self)
            throw ChildProcess.Failure(description: "cannot run \(name): \(String(cString: strerror(result)))")
        }
        return id
    }

    /// Waits for the end of a child.
    ///
    /// - Returns: its exit status; minus the signal's number if a signal ended it.
    package static func waitForEnd(of id: Int32) -> Int32 {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
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

/// A NULL-terminated array of C strings, which is freed with the object.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [[UInt8]]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            let copy = string + [0]
            pointers[index] = copy.withUnsafeBytes { bytes in
                bytes.baseAddress.flatMap { strdup($0.assumingMemoryBound(to: CChar.self)) }
            }
        }
        pointers[count] = nil
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
