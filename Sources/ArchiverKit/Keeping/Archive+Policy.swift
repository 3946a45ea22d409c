// The policies of an archive: records in it, so that every machine and a new catalogue know them.

internal import ArchiveFormat
internal import ArchiveStorage
internal import FileIO
public import Roots

extension Archive {
    /// What is kept of a root: its own policy, else that of all roots, else everything.
    ///
    /// - Parameter root: nil for the policy of all roots.
    public func policy(of root: ArchivedRoot? = nil) throws(ArchiverError) -> RetentionPolicy {
        if let root, let own = try ownPolicy(of: root) { return own }
        return try facing {
            try store.catalogue.policy(root: nil).map { RetentionPolicy($0) } ?? .everything
        }
    }

    /// The policy that was set for a root itself; nil where that of all roots counts.
    public func ownPolicy(of root: ArchivedRoot) throws(ArchiverError) -> RetentionPolicy? {
        try facing {
            guard let number = try number(of: root) else { return nil }
            return try store.catalogue.policy(root: number).map { RetentionPolicy($0) }
        }
    }

    /// Sets what is kept of a root, or of all roots that have no policy of their own.
    ///
    /// Nothing is forgotten by this: `thin` does that.
    ///
    /// - Parameters:
    ///   - policy: nil to take back what was set: a root has the policy of all again, and all keep everything.
    ///   - root: nil for all.
    public func setPolicy(_ policy: RetentionPolicy?, of root: ArchivedRoot? = nil) throws(ArchiverError) {
        try whileKeeping {
            // What is set is to be done, however much goes.
            ThinningClock(in: store.layout).forget()
            guard let root else {
                let budget = try store.catalogue.policy(root: nil)
                return try set(policy ?? .everything, budget)
            }
            guard let number = try number(of: root) else {
                throw ArchiverError(
                    .noSuchDirectory, "the archive holds no snapshots of \(root.path)",
                    remedy: "'archiver roots' shows the directories", path: root.path)
            }
            let time = Timestamp.now(after: try store.catalogue.timeOfPolicy(root: number))
            try store.enter(
                PolicyRecord(
                    rootPath: root.path.bytes, host: root.host, machine: root.machine, time: time,
                    tiers: policy?.stored ?? [], isRemoved: policy == nil))
        }
    }

    /// How much room the archive may take.
    public func budget() throws(ArchiverError) -> StorageBudget {
        try facing {
            guard let record = try store.catalogue.policy(root: nil) else { return StorageBudget() }
            if record.minFreeBytes == nil, record.minFreePercent == nil {
                return StorageBudget(maxSize: record.maxSize)
            }
            return StorageBudget(
                maxSize: record.maxSize, minFreeBytes: record.minFreeBytes, minFreePercent: record.minFreePercent)
        }
    }

    /// Sets how much room the archive may take.
    ///
    /// - Throws: `ArchiverError`: `unsuitableSettings` where nothing fits into that, `readOnly`…
    public func setBudget(_ budget: StorageBudget) throws(ArchiverError) {
        let record = PolicyRecord(
            time: .now, maxSize: budget.maxSize, minFreeBytes: budget.minFreeBytes,
            minFreePercent: budget.minFreePercent)
        do throws(FormatError) { try record.validate() } catch {
            throw ArchiverError(
                .unsuitableSettings, "the archive cannot be kept to that size: \(error)",
                remedy: "give a size such as 20G, and a share of at most 100%")
        }
        try whileKeeping {
            let policy = try store.catalogue.policy(root: nil).map { RetentionPolicy($0) }
            try set(policy ?? .everything, record)
        }
    }

    /// Stores the policy of all roots.
    private func set(_ policy: RetentionPolicy, _ budget: PolicyRecord?) throws {
        let time = Timestamp.now(after: try store.catalogue.timeOfPolicy(root: nil))
        let isDefault = policy == .everything && budget.map { $0.hasNoRoom } ?? true
        try store.enter(
            PolicyRecord(
                time: time, tiers: policy.stored, maxSize: budget?.maxSize, minFreeBytes: budget?.minFreeBytes,
                minFreePercent: budget?.minFreePercent, isRemoved: isDefault))
    }
}

extension PolicyRecord {
    /// Whether it says nothing about sizes.
    fileprivate var hasNoRoom: Bool { maxSize == nil && minFreeBytes == nil && minFreePercent == nil }
}
