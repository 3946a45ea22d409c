// The doctor on the machine: kernel, clock, open files, limits on watching.

import FileIO
import FileWatching
import Glibc
import SystemPackage
import TestTraits
import Testing

@testable import ArchiverKit

@Suite(.blocking) struct DoctorMachineTests {
    // MARK: Kernel and process

    @Test(
        "a kernel before 5.6 or of an unknown version is noted",
        arguments: [
            ("6.12.1-arch1", .good, nil), ("5.6.0", .good, nil), ("10.0", .good, nil),
            ("5.4.0-150-generic", .note, "5.6"), ("4.19.0", .note, "5.6"), ("unheard of", .note, nil),
            (nil, .note, nil),
        ] as [(String?, DoctorFinding.Verdict, String?)])
    func kernels(release: String?, verdict: DoctorFinding.Verdict, remedy: String?) {
        let finding = KernelExamination.kernel(release)
        #expect(finding.verdict == verdict)
        if let release { #expect(finding.message.contains(release)) }
        #expect(remedy.map { finding.remedy?.contains($0) == true } ?? (finding.remedy == nil))
    }

    @Test("this machine's kernel is recognised")
    func thisKernel() {
        #expect(KernelExamination.kernel().message.hasPrefix("Linux "))
    }

    @Test("a clock that is not synchronised, or may not be, is noted")
    func clocks() {
        #expect(KernelExamination.clock(isKept: true).verdict == .good)
        #expect(KernelExamination.clock(isKept: nil).verdict == .note)
        let unkept = KernelExamination.clock(isKept: false)
        #expect(unkept.verdict == .note && unkept.remedy != nil)
    }

    @Test(
        "a low limit of open files is bad",
        arguments: [(0, .bad), (255, .bad), (256, .good), (1 << 20, .good)] as [(UInt64, DoctorFinding.Verdict)])
    func openFiles(limit: UInt64, verdict: DoctorFinding.Verdict) {
        let finding = KernelExamination.openFiles(limit: limit)
        #expect(finding.verdict == verdict)
        #expect((finding.remedy == nil) == (verdict == .good))
    }

    // MARK: Watching

    /// Limits as the kernel would report them, by the path below /proc/sys.
    private func limits(_ values: [FilePath: Int], in sandbox: Sandbox) throws -> KernelLimits {
        for (path, value) in values {
            try sandbox.base.makeDirectory(FilePath("sys").pushing(path.removingLastComponent()))
            try sandbox.base.write(FilePath("sys").pushing(path), "\(value)\n")
        }
        return KernelLimits(in: sandbox.base.full("sys"))
    }

    struct Case: CustomTestStringConvertible {
        let name: String
        let topic: String
        let limits: [FilePath: Int]
        var use = InotifyUse()
        var directories: Int?
        let verdict: DoctorFinding.Verdict?
        var message = ""
        var remedy: String?

        var testDescription: String { name }
    }

    static let usual: [FilePath: Int] = [
        "fs/inotify/max_user_watches": 1000, "fs/inotify/max_user_instances": 128,
        "fs/inotify/max_queued_events": 16_384,
    ]

    static func usual(but path: FilePath, _ value: Int) -> [FilePath: Int] { usual.merging([path: value]) { $1 } }

    static let cases: [Case] = [
        Case(
            name: "watches without a number of directories", topic: "watches", limits: usual, verdict: .good,
            message: "0 of 1000 watches are in use"),
        Case(
            name: "watches that just suffice", topic: "watches", limits: usual,
            use: InotifyUse(instances: 1, watches: 400), directories: 600, verdict: .good,
            message: "400 of 1000 watches are in use, 600 more are needed"),
        Case(
            name: "one watch too few", topic: "watches", limits: usual,
            use: InotifyUse(instances: 1, watches: 400), directories: 601, verdict: .bad,
            message: "400 of 1000 watches are in use, 601 more are needed",
            remedy: "'sysctl fs.inotify.max_user_watches=524288'"),
        Case(
            name: "watches for a very large tree", topic: "watches", limits: usual, directories: 1_000_000,
            verdict: .bad, remedy: "'sysctl fs.inotify.max_user_watches=2000000'"),
        Case(
            name: "watches limited by a namespace", topic: "watches",
            limits: usual(but: "user/max_inotify_watches", 10), directories: 11, verdict: .bad,
            message: "0 of 10 watches", remedy: "'sysctl user.max_inotify_watches="),
        Case(
            name: "no inotify", topic: "watches", limits: [:], directories: 1, verdict: .bad, message: "not available",
            remedy: "watch by polling"),
        Case(
            name: "one instance left", topic: "instances", limits: usual,
            use: InotifyUse(instances: 127, watches: 0), verdict: .good, message: "127 of 128"),
        Case(
            name: "no instance left", topic: "instances", limits: usual,
            use: InotifyUse(instances: 128, watches: 0), verdict: .bad, message: "128 of 128",
            remedy: "'sysctl fs.inotify.max_user_instances=1024'"),
        Case(
            name: "no instance left in a namespace", topic: "instances",
            limits: usual(but: "user/max_inotify_instances", 2), use: InotifyUse(instances: 2, watches: 0),
            verdict: .bad, message: "2 of 2", remedy: "'sysctl user.max_inotify_instances=1024'"),
        Case(name: "an unknown limit of instances", topic: "instances", limits: [:], verdict: nil),
        Case(name: "the usual queue", topic: "queue", limits: usual, verdict: .good, message: "16384 events"),
        Case(
            name: "a short queue", topic: "queue", limits: usual(but: "fs/inotify/max_queued_events", 16_383),
            verdict: .note, message: "16383 events", remedy: "max_queued_events=16384"),
    ]

    @Test("limits on watching get the expected verdict and remedy", arguments: cases)
    func watchLimits(_ test: Case) throws {
        let limits = try limits(test.limits, in: try Sandbox())
        let examination = WatchExamination(limits: limits, use: test.use, directories: test.directories)
        let finding = examination.findings.first { $0.topic == test.topic }
        #expect(finding?.verdict == test.verdict)
        #expect(finding?.message.contains(test.message) ?? true)
        #expect(finding?.remedy?.contains(test.remedy ?? "") ?? (test.remedy == nil))
    }

    /// Other lines begin in a similar way, and a line may be split between two reads.
    @Test("only the lines of watches in fdinfo are counted")
    func fdinfoLines() throws {
        let sandbox = try Sandbox()
        let others = "pos:\t0\nino:\t1063\ninotif\n inotify\nflags:\tinotify\n\n"
        let line = "inotify wd:2 ino:d0a sdev:fe00000 mask:fc6 ignored_mask:0 fhandle-bytes:8\n"
        for count in [0, 1, 3000] {
            try sandbox.base.write("fdinfo", others + String(repeating: line, count: count) + "inotif")
            #expect(InotifyUse.watches(in: sandbox.base.full("fdinfo").string) == count)
        }
        #expect(InotifyUse.watches(in: sandbox.base.full("none").string) == 0)
    }

    @Test("watches in use are counted")
    func watchesInUse() throws {
        let sandbox = try Sandbox()
        let instance = Descriptor(owning: inotify_init1(CInt(IN_CLOEXEC)))
        try #require(instance.number >= 0)
        for number in 0..<1000 {
            let path = FilePath("d\(number)")
            try sandbox.root.makeDirectory(path)
            try #require(inotify_add_watch(instance.number, sandbox.root.full(path).string, UInt32(IN_CREATE)) > 0)
        }
        var own = InotifyUse()
        own.add("self")
        // Other tests watch too, but not that many directories.
        #expect(own.instances >= 1 && (1000..<3000).contains(own.watches))
        #expect(InotifyUse.ofUser().watches >= 1000)
        withExtendedLifetime(sandbox) {}
    }

    /// Limits apply per user: watches of other users do not count.
    @Test("watches of other users do not count", .enabled(if: isRoot))
    func watchesOfOthers() async throws {
        let instance = Descriptor(owning: inotify_init1(CInt(IN_CLOEXEC)))
        try #require(instance.number >= 0)
        // The thread runs as another user, and the process as root.
        let use = try await asOrdinaryUser { InotifyUse.ofUser() }
        #expect(use.instances == 0)
        withExtendedLifetime(instance.number) {}
    }
}
