// The exclusions of a capture: those of its options, or by default those of its root.

package import ArchiveFormat
package import ArchiveStorage
package import Exclusions
internal import FileIO
internal import Roots
internal import SystemPackage

/// The exclusions of one capture.
struct CaptureRules {
    let exclusions: ExclusionRules
    /// Whether they differ from the root's exclusions without replacing them.
    let isAside: Bool

    init(_ options: CaptureOptions, ofRoot path: FilePath, in store: ArchiveStore) throws {
        guard !options.setsExclusions || options.exclusions == nil else {
            exclusions = options.exclusions ?? ExclusionRules()
            isAside = false
            return
        }
        let remembered = try store.exclusions(ofRoot: path.bytes, on: Machine.id)
        let exclusions = options.exclusions ?? remembered ?? options.newRootExclusions
        self.exclusions = exclusions
        isAside = remembered.map { $0 != exclusions } ?? false
    }

    /// Whether new exclusions need a snapshot even if nothing else changed since `base`.
    func isNews(after base: Snapshot?) -> Bool {
        guard let base, !isAside else { return false }
        return base.isAside || base.exclusions != exclusions
    }
}

extension ArchiveStore {
    /// The root's current exclusions; none if it has no readable snapshot.
    package func presentExclusions(ofRoot path: [UInt8], machine: MachineID = Machine.id) throws -> ExclusionRules {
        try exclusions(ofRoot: path, on: machine) ?? ExclusionRules()
    }

    /// The exclusions of the root at `path`: those of its latest snapshot that was not captured aside.
    ///
    /// - Returns: nil if the root has no readable snapshot.
    package func exclusions(ofRoot path: [UInt8], on machine: MachineID) throws -> ExclusionRules? {
        if let regular = try catalogue.latestRegularSnapshot(ofRoot: path, machine: machine),
            let snapshot = try? snapshot(regular.id)
        {
            return snapshot.exclusions
        }
        guard let root = try catalogue.root(path: path, machine: machine) else { return nil }
        // If that one is lost or damaged, an older one most likely has the same exclusions; otherwise use any.
        let others = try catalogue.snapshots(.init(of: root.number, newestFirst: true, limit: 1000))
        for other in others.filter({ !$0.isAside }) + others.filter(\.isAside) {
            if let snapshot = try? snapshot(other.id) { return snapshot.exclusions }
        }
        return nil
    }
}
