// The sizes of the corpora.

internal import ArgumentParser

/// The size of the corpora: full for real figures, small for a quick check that everything runs.
enum Scale: String, ExpressibleByArgument, CaseIterable {
    case small
    case full

    /// The largest generated corpus has this number squared of directories, with 100 files each.
    var fanOut: Int { self == .full ? 100 : 10 }
    /// The tree that is copied by default.
    var tree: String { self == .full ? "/usr/share" : "/usr/include" }
    /// How many states of the git repository are replayed.
    var states: Int { self == .full ? 300 : 30 }
    /// How many states of it are captured for pruning; most are then forgotten.
    var prunedStates: Int { self == .full ? 1_000 : 60 }
    /// The snapshots of the archive with many snapshots.
    var snapshots: Int { self == .full ? 100_000 : 1_000 }
    /// The snapshots of the archive with a long history.
    var historySnapshots: Int { self == .full ? 1_000_000 : 10_000 }
    /// The versions of one large file.
    var largeVersions: Int { self == .full ? 10_000 : 200 }
    /// The chunks of the archive that loses its catalogue.
    var chunks: Int { self == .full ? 1_000_000 : 20_000 }
    /// The labels or gaps of such archives.
    var records: Int { self == .full ? 100_000 : 1_000 }
    /// How many files are saved while they are watched.
    var saves: Int { self == .full ? 1_000 : 100 }
    /// The snapshots that share nothing; most are then forgotten.
    var noisySnapshots: Int { self == .full ? 3_000 : 200 }
    /// How many roots one process watches.
    var roots: Int { self == .full ? 2_000 : 50 }
    /// The unit of large files in bytes: 1 GiB at full scale.
    var largeUnit: Int { self == .full ? 1 << 30 : 8 << 20 }
    /// How often a program that runs for milliseconds is started per round.
    var starts: Int { self == .full ? 20 : 5 }
}
