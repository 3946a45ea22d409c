// What a capture leaves out: what its options say, else what its root is captured with.

package import ArchiveFormat
package import ArchiveStorage
package import Exclusions
internal import FileIO
internal import Roots
internal import SystemPackage

/// The exclusions of one capture.
struct CaptureRules {
    let exclusions: ExclusionRules
    /// Whether they are others than those that the root is captured with, and are not to take their place.
    let isAside: Bool

    init(_ options: CaptureOptions, ofRoot path: FilePath, in store: ArchiveStore) throws {
        guard !options.setsExclusions || options.exclusions == nil else {
            exclusions = options.exclusions ?? ExclusionRules()
            isAside = false
            return
        }
        let remembered = try store.exclusions(ofRoot: path.bytes, on: Machine.id)
        let exclusions = options.exclusions ?? remembered ?? ExclusionRules()
        self.exclusions = exclusions
        isAside = remembered.map { $0 != exclusions } ?? false
    }

    /// Whether a snapshot has to say that these exclusions hold now, although nothing changed since `base`.
    func isNews(after base: Snapshot?) -> Bool {
        guard let base, !isAside else { return false }
        return base.isAside || base.exclusions != exclusions
    }
}

extension ArchiveStore {
    /// What is left out of snapshots of the root at `path`; that is what concerns the root as it is now.
    package func presentExclusions(ofRoot path: [UInt8], machine: MachineID = Machine.id) throws -> ExclusionRules {
        try exclusions(ofRoot: path, on: machine) ?? ExclusionRules()
    }

    /// The exclusions that the root at `path` is captured with: those of its latest snapshot that was not made aside.
    ///
    /// - Returns: nil where the root has no snapshot that can be read.
    package func exclusions(ofRoot path: [UInt8], on machine: MachineID) throws -> ExclusionRules? {
        if let regular = try catalogue.latestRegularSnapshot(ofRoot: path, machine: machine),
            let snapshot = try? snapshot(regular.id)
        {
            return snapshot.exclusions
        }
        guard let root = try catalogue.root(path: path, machine: machine) else { return nil }
        // Where that one is lost or damaged, an older one says the same, most likely; else, anyone that there is.
        let others = try catalogue.snapshots(.init(of: root.number, newestFirst: true, limit: 1000))
        for record in others.filter({ !$0.isAside }) + others.filter(\.isAside) {
            if let snapshot = try? snapshot(record.id) { return snapshot.exclusions }
        }
        return nil
    }
}
