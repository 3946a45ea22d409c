// How a directory that is captured for the first time is related to a root that the archive has already.

/// An older root that a new one may continue.
public struct RelatedRoot: Sendable, Hashable {
    /// How two roots are related.
    public enum Relation: String, Sendable, CaseIterable {
        /// The directory was moved: it is the same one, and the older path is gone. The new root has its history.
        case moved
        /// It is the same directory, but another one is at the older path now.
        case replaced
        /// It has the same path on another machine, or on this one under another id.
        case otherMachine
    }

    /// The other root.
    public let root: ArchivedRoot
    /// How the two are related.
    public let relation: Relation

    package init(_ root: ArchivedRoot, _ relation: Relation) {
        self.root = root
        self.relation = relation
    }
}
