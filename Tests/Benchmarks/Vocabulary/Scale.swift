// How large the corpora are.

internal import ArgumentParser

/// The size of the corpora: what the figures are for, or a quick look whether everything runs.
enum Scale: String, ExpressibleByArgument, CaseIterable {
    case small
    case full

    /// The files of the largest made corpus are 100 in each of as many directories as this squared.
    var fanOut: Int { self == .full ? 100 : 10 }
    /// What is copied where no other tree is named.
    var tree: String { self == .full ? "/usr/share" : "/usr/include" }
    /// States of the git repository that are replayed.
    var states: Int { self == .full ? 300 : 30 }
    /// States of it that are captured, most of which are forgotten then.
    var prunedStates: Int { self == .full ? 1_000 : 60 }
    /// Snapshots of the archive with many.
    var snapshots: Int { self == .full ? 100_000 : 1_000 }
    /// Snapshots of the archive with a long history.
    var historySnapshots: Int { self == .full ? 1_000_000 : 10_000 }
    /// Versions of one large file.
    var largeVersions: Int { self == .full ? 10_000 : 200 }
    /// Chunks of the archive that loses its catalogue.
    var chunks: Int { self == .full ? 1_000_000 : 20_000 }
    /// Files that are saved while they are watched.
    var saves: Int { self == .full ? 1_000 : 100 }
    /// Snapshots that share nothing, most of which are forgotten.
    var noisySnapshots: Int { self == .full ? 3_000 : 200 }
    /// Roots that one process watches.
    var roots: Int { self == .full ? 2_000 : 50 }
    /// The unit of large files in bytes: 1 GiB in earnest.
    var largeUnit: Int { self == .full ? 1 << 30 : 8 << 20 }
    /// Starts of a program that is over in milliseconds, a round.
    var starts: Int { self == .full ? 20 : 5 }
}
