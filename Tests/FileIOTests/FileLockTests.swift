// Locks within a process, between processes, and after a holder is killed.

import FileIO
import Foundation
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import TestTraits
import Testing
import Threading

@Suite(.timeLimit(.minutes(60)), .blocking) struct FileLockTests {
    /// Waits until the lock can be acquired exclusively.
    ///
    /// It may still be held if another test is starting a process, which has a copy of the descriptor until exec.
    private func waitUntilFree(_ path: FilePath) throws {
        _ = try FileLock.exclusive(EnclosedPath(file: path))
    }

    /// Whether the lock can be acquired exclusively now.
    private func isFree(_ path: FilePath) throws -> Bool {
        if let lock = try FileLock.tryExclusive(EnclosedPath(file: path)) {
            _ = consume lock
            return true
        }
        return false
    }

    @Test("a mark is seen by other openings of the file, not by its own, and is no lock")
    func marks() throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        let one = try Descriptor.open(path, O_RDWR | O_CREAT, permissions: 0o600)
        let other = try Descriptor.open(path, O_RDWR)
        /// Whether each of the two sees the mark of others.
        func seen() -> [Bool] { [one.isMarkedElsewhere, other.isMarkedElsewhere] }
        #expect(seen() == [false, false])
        one.mark()
        one.mark()
        #expect(seen() == [false, true])
        other.mark()
        #expect(seen() == [true, true])
        #expect(flock(one.number, LOCK_EX | LOCK_NB) == 0)
        one.unmark()
        #expect(seen() == [true, false])
        do {
            let third = try Descriptor.open(path, O_RDWR)
            third.mark()
            #expect(seen() == [true, true])
            third.unmark()
        }
        #expect(seen() == [true, false])
    }

    @Test("a lock has one holder at a time")
    func exclusion() throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        do {
            let lock = try FileLock.exclusive(EnclosedPath(file: path))
            #expect(try !isFree(path))
            _ = consume lock
        }
        try waitUntilFree(path)
    }

    @Test("isHeld reports whether the lock is held and writes nothing")
    func isHeld() throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        #expect(try !FileLock.isHeld(EnclosedPath(file: path)))
        #expect(try directory.names() == [], "the check must not create the file")
        try directory.write("left behind", to: "lock")
        let before = try #require(try directory.status(CName("lock")))
        #expect(try !FileLock.isHeld(EnclosedPath(file: path)))
        #expect(try directory.contents(of: "lock") == "left behind")
        do {
            let lock = try FileLock.exclusive(EnclosedPath(file: path))
            let held = try directory.contents(of: "lock")
            #expect(try FileLock.isHeld(EnclosedPath(file: path)))
            #expect(try FileLock.isHeld(EnclosedPath(file: path)), "the check must not release the lock")
            #expect(try directory.contents(of: "lock") == held)
            _ = consume lock
        }
        try waitUntilFree(path)
        #expect(try !FileLock.isHeld(EnclosedPath(file: path)))
        #expect(try directory.status(CName("lock"))?.inode == before.inode)
    }

    @Test("isHeld throws if the lock file cannot be read")
    func unreadable() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        #expect(throws: FileError.self) {
            try FileLock.isHeld(EnclosedPath(file: directory.path.appending("file").appending("lock")))
        }
    }

    /// A check shares the lock for a moment, which must not make acquiring it fail.
    @Test("concurrent checks do not prevent acquiring the lock")
    func concurrentChecks() async throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        let isOver = Flag()
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await onThread { while !isOver.isSet { _ = try FileLock.isHeld(EnclosedPath(file: path)) } }
            }
            var failures = 0
            for _ in 0..<200 where try !isFree(path) { failures += 1 }
            isOver.set()
            // A process that another test is starting has a copy of the descriptor until exec.
            #expect(failures < 20, "checks prevented acquiring the lock")
            try await group.waitForAll()
        }
    }

    @Test("touch sets the lock file's time to now")
    func touch() throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        let lock = try FileLock.exclusive(EnclosedPath(file: path))
        try directory.root.setModified(Timestamp(seconds: 1), of: CName("lock"), path: path)
        let start = Timestamp.now.advanced(byNanoseconds: -100_000_000)
        lock.touch()
        // File times come from a coarser clock, which lags by up to a tick.
        #expect(try #require(try directory.status(CName("lock"))).modified > start)
        #expect(try FileLock.holder(of: EnclosedPath(file: path))?.process == getpid(), "the holder stays named")
        _ = consume lock
    }

    @Test("the lock file names the holder while it holds the lock")
    func holder() throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        do {
            let lock = try FileLock.exclusive(EnclosedPath(file: path))
            let holder = try #require(try FileLock.holder(of: EnclosedPath(file: path)))
            #expect(holder.process == getpid())
            #expect(holder.command.contains(CommandLine.arguments[0].prefix(100)))
            #expect(try !isFree(path))
            #expect(
                try FileLock.holder(of: EnclosedPath(file: path)) == holder,
                "a failed attempt must not change the holder's entry")
            _ = consume lock
        }
        #expect(try FileLock.holder(of: EnclosedPath(file: path)) == nil)
    }

    @Test("a leftover lock file does not block the lock")
    func leftovers() throws {
        let directory = try OpenDirectory()
        try directory.write("1 init and a long line left behind by a crash", to: "lock")
        let path = directory.path.appending("lock")
        let lock = try FileLock.exclusive(EnclosedPath(file: path))
        #expect(try FileLock.holder(of: EnclosedPath(file: path))?.process == getpid())
        #expect(try FileLock.holder(of: EnclosedPath(file: path))?.command.contains("left behind") == false)
        _ = consume lock
    }

    @Test("a file that holds something else is locked and stays as it is")
    func precious() throws {
        let directory = try OpenDirectory()
        try directory.write("precious", to: "file")
        #expect(Glibc.link(directory.path.appending("file").string, directory.path.appending("lock").string) == 0)
        let path = directory.path.appending("lock")
        do {
            let lock = try FileLock.exclusive(EnclosedPath(file: path))
            #expect(try FileLock.isHeld(EnclosedPath(file: path)))
            _ = consume lock
        }
        #expect(try directory.contents(of: "file") == "precious")
    }

    @Test("invalid content of the lock file names no holder")
    func invalidContent() throws {
        let directory = try OpenDirectory()
        for text in ["", "12", "x y", " ", "99999999999 a"] {
            try directory.write(text, to: "lock")
            #expect(try FileLock.holder(of: EnclosedPath(file: directory.path.appending("lock"))) == nil, "\(text)")
        }
    }

    @Test("waiters acquire the lock one after the other when it is released")
    func waiters() async throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        let log = Log()
        var held: FileLockBox? = FileLockBox(try FileLock.exclusive(EnclosedPath(file: path)))
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    try await onThread {
                        let lock = try FileLock.exclusive(EnclosedPath(file: path))
                        log.add("taken")
                        log.add("freed")
                        _ = consume lock
                    }
                }
            }
            log.add("freed first")
            withExtendedLifetime(held) {}
            held = nil
            try await group.waitForAll()
        }
        let expected = ["freed first"] + Array(repeating: ["taken", "freed"], count: 3).joined()
        #expect(log.lines == expected)
    }

    @Test(
        "a lock held by another process is released when that process is killed",
        .enabled(if: access("/usr/bin/flock", X_OK) == 0))
    func killedHolder() async throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        try directory.write("", to: "lock")
        let child = try ChildProcess(
            ["flock", "--no-fork", path.string, "sh", "-c", "echo ready; kill -STOP $$"])
        _ = try child.line { $0 == "ready" }
        #expect(try !isFree(path))
        child.send(SIGKILL)
        _ = try child.finish()
        try waitUntilFree(path)
    }

    @Test("another process cannot acquire a held lock", .enabled(if: access("/usr/bin/flock", X_OK) == 0))
    func otherProcesses() throws {
        let directory = try OpenDirectory()
        let path = directory.path.appending("lock")
        func flockSucceeds() throws -> Bool {
            try ChildProcess.run(["flock", "--nonblock", path.string, "true"]).status == 0
        }
        do {
            let lock = try FileLock.exclusive(EnclosedPath(file: path))
            #expect(try !flockSucceeds())
            _ = consume lock
        }
        #expect(try flockSucceeds())
    }
}

/// The actions of several threads, in order.
private final class Log: Sendable {
    private let entries = Locked([String]())

    func add(_ line: String) { entries.withLock { $0.append(line) } }
    var lines: [String] { entries.withLock { $0 } }
}

/// A flag that threads can set once.
private final class Flag: Sendable {
    private let value = Atomic(false)

    func set() { value.store(true, ordering: .relaxed) }
    var isSet: Bool { value.load(ordering: .relaxed) }
}

/// A lock in a reference type, which can be passed around.
private final class FileLockBox {
    private let lock: FileLock

    init(_ lock: consuming FileLock) { self.lock = lock }
}
