// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "archiver",
    products: [
        .executable(name: "archiver", targets: ["archiver"]),
        .library(
            name: "ArchiverKit",
            targets: ["ArchiverKit", "ArchiveFormat", "ArchiveStorage", "Exclusions", "FileIO", "Mementos"]),
        .library(name: "Mementos", targets: ["Mementos"]),
        .library(name: "Timeline", targets: ["Timeline"]),
    ],
    traits: [
        .default(enabledTraits: ["Page"]),
        // Packages that depend on this one for its libraries turn it off, and SwiftPM then downloads 6 packages, not 27.
        .trait(name: "Page", description: "The page of `archiver browse`, which the program archiver needs."),
        .trait(
            name: "Libdeflate",
            description: "Compress and decompress whole blocks with libdeflate: the same format in half the time."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        // MARK: Age - files encrypted for recipients, as the program age has them
        .target(
            name: "Age",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "AgeTests",
            dependencies: [
                "Age", "CZlib", "TestSupport", "TestTraits", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: ArchiveFormat - values to bytes and back: ids, entries, nodes, snapshots, blocks, segments
        .target(
            name: "ArchiveFormat",
            dependencies: ["Compression", "Exclusions", "FileIO", .product(name: "Crypto", package: "swift-crypto")]
        ),
        .testTarget(
            name: "ArchiveFormatTests",
            dependencies: [
                "ArchiveFormat", "Compression", "Exclusions", "FileIO", "FuzzTargets", "TestSupport",
            ]),

        // MARK: ArchiveStorage - segments, catalogue, chunk store, crash recovery
        .target(
            name: "ArchiveStorage",
            dependencies: [
                "ArchiveFormat", "Compression", "FileIO", "Threading",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "ArchiveStorageTests",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Compression", "FileIO", "TestSupport", "TestTraits", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: TestSupport - shared code of the test targets
        .target(
            name: "TestSupport",
            dependencies: ["FileIO", "Programs", .product(name: "SystemPackage", package: "swift-system")],
            path: "Tests/TestSupport"),

        // MARK: Archives - an open archive: its roots, snapshots, selectors, differences, operations, undo
        .target(
            name: "Archives",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "FileWatching", "Restoring",
                "Roots", "SnapshotTree", "WatchControl",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: archiver - the program
        .executableTarget(name: "archiver", dependencies: ["ArchiverCommands"]),

        // MARK: ArchiverCommands - the command line: parse, call, render
        .target(
            name: "ArchiverCommands",
            dependencies: [
                "Age", "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "CLinux", "Configuring", "Exclusions",
                "FileIO", "Mementos", "ObjectStore", "Programs", "Replicas", "SavedStates", "TextDiff", "Threading",
                "Timeline", "TimelineServer", "WatchControl", "Watching",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "ArchiverCommandsTests",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverCommands", "ArchiverKit", "FileIO", "SavedStates",
                "TestSupport", "TestTraits", "TextDiff", "WatchControl", "archiver", "examples", "faults",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: ArchiverKit - the library that programs import: re-exports the modules below it; status and doctor
        .target(
            name: "ArchiverKit",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "Checking", "Exclusions", "FileIO",
                "FileWatching", "History", "Keeping", "Replicas", "Restoring", "Roots", "SavedStates", "SnapshotTree",
                "WatchControl", "Watching",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "ArchiverKitTests",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Archives", "ArchiverKit", "CLinux", "Capturing", "Checking",
                "Compression",
                "Exclusions", "FileIO", "FileWatching", "History", "Keeping", "Mementos", "Restoring", "Roots",
                "SavedStates", "SnapshotTree", "TestSupport", "TestTraits", "Threading", "TreeScripts", "WatchControl",
                "archiver", "churn", "examples",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: benchmarks - measures archiver and its peers at the same work
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "Capturing", "Compression", "FileIO", "SnapshotTree",
                "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Benchmarks"
        ),
        .testTarget(
            name: "BenchmarkTests",
            dependencies: [
                "FileIO", "TestSupport", "benchmarks", .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: churn - random changes of a tree, for tests
        .executableTarget(name: "churn", dependencies: ["CLinux", "TestSupport"], path: "Tests/Churn"),

        // MARK: simulated-year - measures an archive's growth over a simulated year of work
        .target(name: "SimulatedClock", path: "Tests/SimulatedClock"),
        .executableTarget(
            name: "simulated-year",
            dependencies: [
                "ArchiveStorage", "ArchiverKit", "FileIO", "SimulatedClock", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Year"
        ),

        // MARK: Capturing - files to trees: walk, read, update the tree, commit
        .target(
            name: "Capturing",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Exclusions", "FileIO", "FileWatching", "Roots", "SnapshotTree",
                "Threading", .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: CCurl - libcurl, loaded while the program runs
        .target(name: "CCurl"),

        // MARK: CLibdeflate - libdeflate's header
        .systemLibrary(name: "CLibdeflate"),

        // MARK: CLinux - Linux system calls that Glibc's module map does not export to Swift
        .target(name: "CLinux"),

        // MARK: Checking - checks that every block is intact and every snapshot can be restored
        .target(
            name: "Checking",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "FileIO", "Roots", "SnapshotTree",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Compression - zlib, or libdeflate if the trait Libdeflate is on
        .target(
            name: "Compression",
            dependencies: ["CZlib", .target(name: "CLibdeflate", condition: .when(traits: ["Libdeflate"]))]),
        .testTarget(name: "CompressionTests", dependencies: ["Compression", "TestSupport", "TestTraits"]),

        // MARK: CZlib - zlib's headers
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // MARK: Configuring - the configuration file: reading, checking, editing
        .target(
            name: "Configuring",
            dependencies: [
                "FileIO", .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ]),
        .testTarget(
            name: "ConfiguringTests",
            dependencies: [
                "Configuring", "FileIO", "TestSupport", "TestTraits",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Examples - small programs that keep their state in an archive
        .executableTarget(
            name: "examples",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "Mementos", "Timeline",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Examples"
        ),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "TestSupport", "TestTraits", "archiver", "examples",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: Exclusions - gitignore patterns, ignore files, cache tags
        .target(name: "Exclusions", dependencies: ["FileIO"]),
        .testTarget(
            name: "ExclusionsTests",
            dependencies: [
                "Exclusions", "FileIO", "TestSupport", "TestTraits",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: faults - runs a program in which a system call fails, and recreates what a power failure may leave
        .executableTarget(name: "faults", path: "Tests/Faults", publicHeadersPath: "."),

        // MARK: FileIO - descriptors, status, directories, metadata, durable writes, locks
        .target(
            name: "FileIO",
            dependencies: ["CLinux", "Threading", .product(name: "SystemPackage", package: "swift-system")]
        ),
        .testTarget(
            name: "FileIOTests",
            dependencies: [
                "CLinux", "FileIO", "TestSupport", "TestTraits", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: FileWatching - inotify, fanotify and polling to change batches
        .target(
            name: "FileWatching",
            dependencies: [
                "CLinux", "Exclusions", "FileIO", "Mementos", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "FileWatchingTests",
            dependencies: [
                "CLinux", "Exclusions", "FileIO", "FileWatching", "Mementos", "TestSupport", "TestTraits", "Threading",
                "TreeScripts",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: FuzzTargets - the fuzzed decoders; `make fuzz` builds them with libFuzzer
        .target(
            name: "FuzzTargets", dependencies: ["ArchiveFormat", "Compression", "Exclusions"],
            path: "Tests/FuzzTargets"),

        // MARK: History - questions about the past: versions, names, lines, deleted paths, bisection
        .target(
            name: "History",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "Exclusions", "FileIO", "Restoring",
                "Roots",
                "SnapshotTree", "TextDiff", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Keeping - retention: labels, pins, notes, policies, thinning, budgets, purging, usage
        .target(
            name: "Keeping",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "Exclusions", "FileIO", "History", "Roots",
                "SnapshotTree",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Mementos - Observer, Memento, Command as a small library
        .target(name: "Mementos", dependencies: ["Threading"]),
        .testTarget(name: "MementosTests", dependencies: ["Mementos", "TestSupport", "Threading"]),

        // MARK: ObjectStore - stores of objects that are written once: S3, SFTP, a directory; one in memory
        .target(
            name: "ObjectStore",
            dependencies: [
                "CCurl", "CLinux", "FileIO", "Programs", "Threading",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .testTarget(
            name: "ObjectStoreTests",
            dependencies: [
                "FileIO", "ObjectStore", "TestSupport", "TestTraits", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Programs - starts other programs
        .target(
            name: "Programs",
            dependencies: ["CLinux", "FileIO", .product(name: "SystemPackage", package: "swift-system")]),

        // MARK: Replicas - an archive's segments in object stores: sending, reading, checking, cloning
        .target(
            name: "Replicas",
            dependencies: [
                "Age", "ArchiveFormat", "ArchiveStorage", "Archives", "Compression", "FileIO", "ObjectStore", "Roots",
                "Threading",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .testTarget(
            name: "ReplicasTests",
            dependencies: [
                "Age", "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "FileIO", "Keeping", "Mementos",
                "ObjectStore", "Replicas", "Roots", "TestSupport", "TestTraits", "Threading", "Watching",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Restoring - trees to files, in place or elsewhere, and the record of the operation
        .target(
            name: "Restoring",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "FileWatching", "Roots",
                "SnapshotTree", "Threading", .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Roots - a root: its identity, its open directory, its locks
        .target(
            name: "Roots",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "FileIO", "Mementos",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: SavedStates - programs' values to chunks and back, with versions and migrations
        .target(
            name: "SavedStates",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "FileIO", "FileWatching", "Keeping",
                "Mementos", "Restoring", "Roots", "SnapshotTree", "TextDiff", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: SnapshotTree - the history-independent ordered map from paths to entries
        .target(
            name: "SnapshotTree",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "FileIO", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .testTarget(
            name: "SnapshotTreeTests",
            dependencies: ["ArchiveFormat", "FileIO", "SnapshotTree", "TestSupport"]),

        // MARK: TestTraits - a trait for tests that block their thread
        .target(name: "TestTraits", dependencies: ["Threading"], path: "Tests/TestTraits"),

        // MARK: TextDiff - line by line comparison of two texts
        .target(name: "TextDiff", dependencies: ["FileIO"]),
        .testTarget(name: "TextDiffTests", dependencies: ["TestSupport", "TestTraits", "TextDiff"]),

        // MARK: Threading - values behind a lock, ordered work on several threads
        .target(name: "Threading"),
        .testTarget(name: "ThreadingTests", dependencies: ["Threading"]),

        // MARK: Timeline - the moments of a history behind a data source and a delegate
        .target(
            name: "Timeline", dependencies: ["ArchiveFormat", "ArchiveStorage", "ArchiverKit", "FileIO", "Threading"]),
        .testTarget(
            name: "TimelineTests",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "FileIO", "Roots", "TestSupport", "TestTraits",
                "Timeline",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: TimelineServer - the timeline as a page, served on the loopback interface
        .target(
            name: "TimelineServer",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "FileIO", "SavedStates", "TextDiff", "Threading",
                "Timeline",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Page"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["openapi.json"],
            resources: [.embedInCode("Page")]
        ),
        .testTarget(
            name: "TimelineServerTests",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "FileIO", "TestSupport", "TestTraits", "Threading",
                "TimelineServer",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Page"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),

        // MARK: TreeScripts - scripts that change a tree, and their commands
        .target(
            name: "TreeScripts",
            dependencies: ["CLinux", "Threading", .product(name: "SystemPackage", package: "swift-system")],
            path: "Tests/TreeScripts"),

        // MARK: WatchControl - the socket between a watcher and the commands that ask it; the settings of a watch
        .target(
            name: "WatchControl",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "Roots", "Threading",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // MARK: Watching - the watch service: captures changes, audits roots, answers commands
        .target(
            name: "Watching",
            dependencies: [
                "ArchiveFormat", "Archives", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "FileWatching",
                "Keeping", "Mementos", "ObjectStore", "Replicas", "Roots", "SnapshotTree", "Threading", "WatchControl",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// `make check` and `make test` set it. Without it, a newer compiler's warnings do not break programs that use archiver.
let isStrict = Context.environment["ARCHIVER_STRICT"] != nil

let inC: Set = ["CCurl", "CLinux", "faults"]
for target in package.targets where ![.system, .plugin, .binary].contains(target.type) && !inC.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    if isStrict { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}

// `make test` tests optimised code, as shipped. Optimising the tests too would take minutes and show nothing more; only
// the small module that makes their random bytes is optimised.
if Context.environment["ARCHIVER_TESTS"] == "optimised" {
    let optimised: Set = inC.union(["TestSupport"])
    for target in package.targets where target.path?.hasPrefix("Tests/") == true || target.type == .test {
        if !optimised.contains(target.name) { target.swiftSettings?.append(.unsafeFlags(["-Onone"])) }
    }
}

// SwiftPM compiles a module again only if a dependency that it declares has changed (swift-package-manager issue 10502).
// But the module's code also contains the sizes of types that it sees through these, and an object of the wrong size
// corrupts memory. So targets and library products declare their indirect dependencies too.
let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
var isComplete = false
while !isComplete {
    isComplete = true
    for target in package.targets {
        var declared = Set(target.dependencies.map { "\($0)" })
        for case .byNameItem(let name, _) in target.dependencies where targets[name]?.type == .regular {
            let indirect = (targets[name]?.dependencies ?? []).filter { declared.insert("\($0)").inserted }
            if !indirect.isEmpty { isComplete = false }
            target.dependencies += indirect
        }
    }
}
package.products = package.products.map { product in
    guard let library = product as? Product.Library else { return product }
    var modules = Set(library.targets)
    for case .byNameItem(let name, _) in library.targets.flatMap({ targets[$0]?.dependencies ?? [] }) {
        if targets[name]?.type == .regular { modules.insert(name) }
    }
    return .library(name: library.name, type: library.type, targets: modules.sorted())
}
