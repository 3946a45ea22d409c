// The kernel's limits, read from a directory laid out like /proc/sys.

import FileWatching
import SystemPackage
import TestTraits
import Testing

@Suite(.blocking) struct KernelLimitsTests {
    @Test("the lower of two limits is in force")
    func lower() throws {
        let tree = try TemporaryTree()
        try tree.run(
            """
            mkdir -p fs/inotify
            mkdir user
            write fs/inotify/max_user_watches 1000
            write user/max_inotify_watches 20
            write fs/inotify/max_user_instances 128
            write user/max_inotify_instances 2147483647
            write fs/inotify/max_queued_events 16384
            write user/max_fanotify_marks 7
            """)
        let limits = KernelLimits(in: FilePath(tree.root))
        #expect(limits[.inotifyWatches] == 20)
        #expect(limits.decisiveSysctl(of: .inotifyWatches) == "user.max_inotify_watches")
        #expect(limits[.inotifyInstances] == 128)
        #expect(limits.decisiveSysctl(of: .inotifyInstances) == "fs.inotify.max_user_instances")
        #expect(limits[.inotifyQueue] == 16_384)
        #expect(limits[.fanotifyMarks] == 7)
        #expect(limits[.fanotifyGroups] == nil)
    }

    @Test("this kernel reports its limits")
    func current() throws {
        let watches = try #require(KernelLimits.current[.inotifyWatches])
        #expect(watches > 0)
    }
}
