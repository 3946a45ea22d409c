// swift-tools-version: 6.2

import PackageDescription

// What modules use of other packages.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let hummingbird = Target.Dependency.product(
    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Page"]))
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

/// A module in `Sources` and, if they use anything, its tests, which also use the module and all that it uses.
func module(
    _ name: String, uses: [Target.Dependency] = [], resources: [Resource]? = nil, exclude: [String] = [],
    tests: [Target.Dependency]? = nil
) -> [Target] {
    let module = Target.target(name: name, dependencies: uses, exclude: exclude, resources: resources)
    return [module] + (tests.map { testTarget(name, uses: uses + $0) } ?? [])
}

/// The tests of a module, which use some support of all tests.
func testTarget(_ name: String, uses: [Target.Dependency]) -> [Target] {
    let support: [Target.Dependency] = [.byName(name: name), "TestSupport", "TestTraits", system]
    var seen: Set<String> = []
    let all = (support + uses).filter { seen.insert("\($0)").inserted }
    return [.testTarget(name: name + "Tests", dependencies: all)]
}

/// A program or a module that only tests use, in `Tests`.
func support(_ name: String, in folder: String, isProgram: Bool = false, uses: [Target.Dependency] = []) -> Target {
    let path = "Tests/" + folder
    return isProgram
        ? .executableTarget(name: name, dependencies: uses, path: path)
        : .target(name: name, dependencies: uses, path: path)
}

// Each module with what it is for. What it imports it uses; Modules.md shows their levels.
let modules: [[Target]] = [
    // Files encrypted for recipients, as the program age has them.
    module(
        "Age", uses: [crypto, .product(name: "CryptoExtras", package: "swift-crypto")], tests: ["CZlib"]),
    // Values to bytes and back: ids, entries, nodes, snapshots, blocks, segments.
    module("ArchiveFormat", uses: ["Compression", "Exclusions", "FileIO", crypto], tests: ["FuzzTargets"]),
    // Segments, catalogue, chunk store, crash recovery.
    module(
        "ArchiveStorage",
        uses: [
            "ArchiveFormat", "Compression", "FileIO", "Threading", system,
            .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ], tests: []),
    // The command line: parse, call, render.
    module(
        "ArchiverCommands",
        uses: [
            "Age", "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "Archives", "CLinux", "Configuring",
            "Exclusions", "FileIO", "Mementos", "ObjectStore", "Programs", "Replicas", "Roots", "SavedStates",
            "TextDiff", "Threading", "Timeline", "TimelineServer", "WatchControl", argumentParser, logging, system,
        ], tests: ["examples", "faults"]),
    // The library that programs import: re-exports the modules below it; status and doctor.
    module(
        "ArchiverKit",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "Checking", "Exclusions", "FileIO",
            "FileWatching", "History", "Keeping", "Replicas", "Restoring", "Roots", "SavedStates", "SnapshotTree",
            "WatchControl", "Watching", system,
        ],
        tests: [
            "CLinux", "Compression", "Mementos", "Threading", "TreeScripts", "churn", "examples", crypto,
        ]),
    // An open archive: its roots, snapshots, selectors, differences, operations, undo.
    module(
        "Archives",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "FileWatching", "Restoring",
            "Roots", "SnapshotTree", "Threading", "WatchControl", system,
        ]),
    // Files to trees: walk, read, update the tree, commit.
    module(
        "Capturing",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Exclusions", "FileIO", "FileWatching", "Roots", "SnapshotTree",
            "Threading", system,
        ]),
    // libcurl, loaded while the program runs.
    module("CCurl"),
    // Linux system calls that Glibc's module map does not export to Swift.
    module("CLinux"),
    // Checks that every block is intact and every snapshot can be restored.
    module("Checking", uses: ["ArchiveFormat", "ArchiveStorage", "FileIO", "Roots", "SnapshotTree", system]),
    // zlib, or libdeflate if the trait Libdeflate is on.
    module(
        "Compression",
        uses: ["CZlib", .target(name: "CLibdeflate", condition: .when(traits: ["Libdeflate"]))], tests: []),
    // The configuration file: reading, checking, editing.
    module("Configuring", uses: ["FileIO", system, .product(name: "TOMLKit", package: "TOMLKit")], tests: []),
    // Gitignore patterns, ignore files, cache tags.
    module("Exclusions", uses: ["FileIO"], tests: []),
    // Descriptors, status, directories, metadata, durable writes, locks.
    module("FileIO", uses: ["CLinux", "Threading", system], tests: []),
    // Inotify, fanotify and polling to change batches.
    module(
        "FileWatching", uses: ["CLinux", "Exclusions", "FileIO", "Mementos", "Threading", system],
        tests: ["TreeScripts"]),
    // Questions about the past: versions, names, lines, deleted paths, bisection.
    module(
        "History",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "Exclusions", "FileIO", "Restoring", "Roots",
            "SnapshotTree", "TextDiff", "Threading", system,
        ]),
    // Retention: labels, pins, notes, policies, thinning, budgets, purging, usage.
    module(
        "Keeping",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "Compression", "Exclusions", "FileIO",
            "History", "Roots", "SnapshotTree", crypto, system,
        ]),
    // Observer, Memento, Command as a small library.
    module("Mementos", uses: ["Threading"], tests: []),
    // Stores of objects that are written once: S3, SFTP, a directory; one in memory.
    module("ObjectStore", uses: ["CCurl", "CLinux", "FileIO", "Programs", "Threading", crypto, system], tests: []),
    // Starts other programs.
    module("Programs", uses: ["CLinux", "FileIO", system]),
    // An archive's segments in object stores: sending, reading, checking, cloning.
    module(
        "Replicas",
        uses: [
            "Age", "ArchiveFormat", "ArchiveStorage", "Archives", "Compression", "FileIO", "ObjectStore", "Roots",
            "SnapshotTree", "Threading", crypto, system,
        ], tests: ["Capturing", "Checking", "Keeping", "Mementos", "Watching"]),
    // Trees to files, in place or elsewhere, and the record of the operation.
    module(
        "Restoring",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "FileWatching", "Roots",
            "SnapshotTree", "Threading", system,
        ]),
    // A root: its identity, its open directory, its locks.
    module("Roots", uses: ["ArchiveFormat", "ArchiveStorage", "FileIO", "Mementos", system]),
    // Programs' values to chunks and back, with versions and migrations.
    module(
        "SavedStates",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Archives", "Capturing", "FileIO", "FileWatching", "Keeping",
            "Mementos", "Restoring", "Roots", "SnapshotTree", "TextDiff", "Threading", system,
        ]),
    // The history-independent ordered map from paths to entries.
    module("SnapshotTree", uses: ["ArchiveFormat", "ArchiveStorage", "FileIO", "Threading", system], tests: []),
    // Line by line comparison of two texts.
    module("TextDiff", uses: ["FileIO"], tests: []),
    // Values behind a lock, ordered work on several threads.
    module("Threading", tests: []),
    // The moments of a history behind a data source and a delegate.
    module(
        "Timeline", uses: ["ArchiveFormat", "ArchiveStorage", "ArchiverKit", "FileIO", "Threading"], tests: ["Roots"]),
    // The timeline as a page, served on the loopback interface.
    module(
        "TimelineServer",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "FileIO", "SavedStates", "TextDiff", "Threading",
            "Timeline", crypto, hummingbird, logging, system,
        ], resources: [.embedInCode("Page")], exclude: ["openapi.json"], tests: []),
    // The socket between a watcher and the commands that ask it; the settings of a watch.
    module(
        "WatchControl",
        uses: [
            "ArchiveFormat", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "Roots", "Threading", system,
        ]),
    // The watch service: captures changes, audits roots, answers commands.
    module(
        "Watching",
        uses: [
            "ArchiveFormat", "Archives", "ArchiveStorage", "Capturing", "Exclusions", "FileIO", "FileWatching",
            "Keeping", "Mementos", "ObjectStore", "Replicas", "Roots", "SnapshotTree", "Threading", "WatchControl",
            system,
        ]),
    [
        .systemLibrary(name: "CLibdeflate"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    ],
]

let programs: [[Target]] = [
    [.executableTarget(name: "archiver", dependencies: ["ArchiverCommands"])],
    // Small programs that keep their state in an archive.
    [
        .executableTarget(
            name: "examples",
            dependencies: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "Mementos", "Timeline", argumentParser, system,
            ],
            path: "Sources/Examples")
    ],
    [.testTarget(name: "ExamplesTests", dependencies: ["TestSupport", "TestTraits", "examples", system])],
]

let testing: [[Target]] = [
    [
        // What all tests share; a trait for tests that block their thread.
        support("TestSupport", in: "TestSupport", uses: ["FileIO", "Programs", "Threading", system]),
        support("TestTraits", in: "TestTraits", uses: ["Threading"]),
        // Measures archiver and its peers at the same work.
        support(
            "benchmarks", in: "Benchmarks", isProgram: true,
            uses: [
                "ArchiveFormat", "ArchiveStorage", "ArchiverKit", "Capturing", "Compression", "FileIO", "SnapshotTree",
                "TestSupport", argumentParser, system,
            ]),
        .testTarget(name: "BenchmarkTests", dependencies: ["FileIO", "TestSupport", "benchmarks", system]),
        // Random changes of a tree.
        support("churn", in: "Churn", isProgram: true, uses: ["CLinux", "TestSupport"]),
        // Runs a program in which a system call fails, and recreates what a power failure may leave.
        .executableTarget(name: "faults", path: "Tests/Faults", publicHeadersPath: "."),
        // The fuzzed decoders; `make fuzz` builds them with libFuzzer.
        support("FuzzTargets", in: "FuzzTargets", uses: ["ArchiveFormat", "Compression", "Exclusions"]),
        // Measures an archive's growth over a simulated year of work.
        support("SimulatedClock", in: "SimulatedClock"),
        support(
            "simulated-year", in: "Year", isProgram: true,
            uses: [
                "ArchiveStorage", "ArchiverKit", "FileIO", "SimulatedClock", "TestSupport", argumentParser, system,
            ]),
        // Scripts that change a tree, and their commands.
        support("TreeScripts", in: "TreeScripts", uses: ["CLinux", "Threading", system]),
    ]
]

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
    targets: (modules + programs + testing).flatMap(\.self),
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
// the small module that makes their random bytes is optimised. The command line and the page's server are not either:
// optimised, they take an eighth of the whole build's work, much of it on one core while all that comes later waits, and
// what is fast or slow is in the modules that they call. `make test-all` tests the shipped program.
if Context.environment["ARCHIVER_TESTS"] == "optimised" {
    let optimised: Set = inC.union(["TestSupport"])
    for target in package.targets where !optimised.contains(target.name) {
        let isOfTests = target.path?.hasPrefix("Tests/") == true || target.type == .test
        if isOfTests || ["ArchiverCommands", "TimelineServer"].contains(target.name) {
            target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
        }
    }
    // Like the shipped program, the tests' one contains the Swift runtime: tests start it thousands of times, and loading
    // the runtime's libraries would take a third of a start. SwiftPM has no setting for one program of a build; code that
    // is compiled for the dynamic runtime does not name the libraries that only the static one consists of.
    let runtime = [
        "CoreFoundation", "_FoundationICU", "_FoundationCShims", "_FoundationCollections", "swiftDispatch", "dispatch",
        "BlocksRuntime", "swiftSynchronization", "stdc++",
    ]
    for target in package.targets where target.name == "archiver" {
        target.linkerSettings = [
            .unsafeFlags(
                [
                    "-static-stdlib", "-L.build/c++", "-Xlinker", "--no-export-dynamic", "-Xclang-linker", "-no-pie",
                    "-Xclang-linker", "-static-libgcc",
                ]
                    + runtime.map { "-l\($0)" })
        ]
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
