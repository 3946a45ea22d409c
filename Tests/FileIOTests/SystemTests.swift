// Information about accounts, the process and file systems.

import CLinux
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct SystemTests {
    private func text(_ path: FilePath) throws -> String {
        String(decoding: try Descriptor.open(path, O_RDONLY).readToEnd(limit: 1 << 22, path: path), as: UTF8.self)
    }

    @Test("account names agree with the system's files")
    func accountNames() throws {
        let names = AccountNames()
        var seen = Set<UInt32>()
        for line in try text("/etc/passwd").split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 2, let number = UInt32(fields[2]) else { continue }
            #expect(names.owner(named: String(fields[0])) == number)
            if seen.insert(number).inserted { #expect(names.owner(number) == String(fields[0])) }
        }
        seen = []
        for line in try text("/etc/group").split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 2, let number = UInt32(fields[2]) else { continue }
            #expect(names.group(named: String(fields[0])) == number)
            if seen.insert(number).inserted { #expect(names.group(number) == String(fields[0])) }
        }
        #expect(names.owner(0) == "root" && names.group(0) == "root")
    }

    @Test("an unknown account has no name, also when the answer is cached")
    func unknownAccounts() {
        let names = AccountNames()
        for _ in 0..<2 {
            #expect(names.owner(3_999_999_999) == nil && names.group(3_999_999_999) == nil)
            #expect(names.owner(named: "no such user") == nil && names.group(named: "no such group") == nil)
        }
    }

    @Test("account names can be looked up from many threads")
    func concurrentLookups() {
        let names = AccountNames()
        DispatchQueue.concurrentPerform(iterations: 200) { round in
            #expect(names.owner(UInt32(round % 3)) == AccountNames().owner(UInt32(round % 3)))
        }
    }

    @Test("the host name and the root privilege are detected")
    func process() throws {
        #expect(CurrentProcess.hostName == (try text("/proc/sys/kernel/hostname")).trimmingCharacters(in: .newlines))
        let line = try #require(try text("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("Uid:") })
        #expect(CurrentProcess.isRoot == (line.split(separator: "\t")[2] == "0"))
    }

    @Test("the limit on open files is raised to the hard limit")
    func openFileLimit() throws {
        let limit = CurrentProcess.raiseOpenFileLimit()
        let line = try #require(
            try text("/proc/self/limits").split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let fields = line.split(separator: " ")
        #expect(fields[3] == fields[4] && String(fields[4]) == String(limit))
    }

    @Test("the monotonic clock never decreases")
    func clock() {
        var last = CurrentProcess.monotonicNanoseconds
        for _ in 0..<10_000 {
            let now = CurrentProcess.monotonicNanoseconds
            #expect(now >= last)
            last = now
        }
    }

    @Test("file systems are identified by name")
    func fileSystemNames() throws {
        let proc = try FileSystem.of(try Descriptor.open("/proc", CInt(CLINUX_O_PATH)))
        #expect(proc.name == "proc" && proc.reach == .pseudo)
        let sys = try FileSystem.of(try Descriptor.open("/sys", O_RDONLY))
        #expect(sys.name == "sysfs" && sys.reach == .pseudo)
        #expect(FileSystem(magic: 0x6573_5546).name == "fuse")
        #expect(FileSystem(magic: 0x6969).reach == .remote && FileSystem(magic: 0xEF53).reach == .local)
        #expect(FileSystem(magic: 0xABCD_0123) == FileSystem(magic: 0xABCD_0123))
        #expect(FileSystem(magic: 0xABCD_0123).name == "0xabcd0123")
    }

    /// The mount table names the type of each mount; `FileSystem` must not contradict it.
    @Test("file systems agree with the types in the mount table")
    func mountTable() throws {
        for line in try text("/proc/self/mounts").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let root = try? Descriptor.open(FilePath(String(fields[1])), CInt(CLINUX_O_PATH)) else { continue }
            let system = try FileSystem.of(root)
            let kinds: [Substring: (String, FileSystem.Reach)] = [
                "ext4": ("ext4", .local), "xfs": ("xfs", .local), "btrfs": ("btrfs", .local),
                "tmpfs": ("tmpfs", .local), "overlay": ("overlay", .local), "nfs4": ("nfs", .remote),
                "9p": ("9p", .remote), "proc": ("proc", .pseudo), "sysfs": ("sysfs", .pseudo),
                "cgroup2": ("cgroup2", .pseudo), "devpts": ("devpts", .pseudo), "mqueue": ("mqueue", .pseudo),
                "debugfs": ("debugfs", .pseudo), "tracefs": ("tracefs", .pseudo), "bpf": ("bpf", .pseudo),
                "securityfs": ("securityfs", .pseudo), "configfs": ("configfs", .pseudo),
            ]
            // Another mount may hide this one.
            guard let (name, reach) = kinds[fields[2]], system.name != "autofs" else { continue }
            #expect(system.name == name && system.reach == reach, "\(line)")
        }
    }

    @Test("the free space of the file system is reported")
    func freeSpace() throws {
        let directory = try OpenDirectory()
        #expect(try FileSystem.freeBytes(of: directory.root) > 0)
        #expect(try FileSystem.freeBytes(of: try Descriptor.open("/proc", O_RDONLY)) == 0)
    }
}
