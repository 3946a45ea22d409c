// The catalogue is disposable: it can always be rebuilt from the segments.

import ArchiveFormat
import ArchiveStorage
import FileIO
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite("The catalogue", .blocking)
struct CatalogueTests {
    private struct Archive {
        let directory: TemporaryDirectory
        let commits: [Commit]
        /// Entered between the commits.
        let gaps: [GapRecord]
        let operations: [StoredOperation]
        var path: FilePath { directory.path }
        var file: FilePath { path.appending("catalogue.sqlite") }

        /// - Parameter segmentBytes: small, so that the commits fill several segments.
        init(segmentBytes: Int = 2_000, commits count: Int = 8) throws {
            directory = try TemporaryDirectory()
            try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: segmentBytes)
            let store = try ArchiveStore.open(directory.path, creating: false)
            var commits: [Commit] = []
            var gaps: [GapRecord] = []
            var operations: [StoredOperation] = []
            for number in 0..<count {
                let contents = ["common", "content \(number)", String(repeating: "abc \(number) ", count: 100)]
                commits.append(try store.commit(number, contents.map { Array($0.utf8) }, parent: commits.last))
                let gap = GapRecord.sample(number, root: number % 3 == 0 ? "/unseen" : "/root")
                try store.enter([gap])
                gaps.append(gap)
                operations.append(StoredOperation(.sample(number)))
                _ = try store.enter(.sample(number))
            }
            self.commits = commits
            self.gaps = gaps
            self.operations = operations
            #expect(try store.catalogue.segments().count > 1)
        }

        func expectWhole(_ comment: Comment? = nil) throws {
            let store = try ArchiveStore.open(path, creating: false)
            #expect(try store.catalogue.snapshots() == commits.map(\.record), comment)
            for commit in commits { #expect(try store.holds(commit), comment) }
            #expect(try store.catalogue.gaps() == gaps, comment)
            #expect(try store.catalogue.operations() == operations, comment)
        }
    }

    @Test("a list uses an index, so that its cost depends only on its own length", arguments: [true, false])
    func plans(newestFirst: Bool) throws {
        let directory = try TemporaryDirectory()
        let catalogue = try ArchiveStore.open(directory.path, creating: true).catalogue
        let time = Timestamp(seconds: 5)
        for root in [nil, 1] as [Int64?] {
            for (since, until) in [(nil, nil), (time, nil), (nil, time)] as [(Timestamp?, Timestamp?)] {
                for isByTime in [false, true] {
                    var filter = Catalogue.SnapshotFilter(
                        of: root, until: until, since: since, newestFirst: newestFirst, limit: 10)
                    filter.isByTime = isByTime
                    let plan = try catalogue.plan(filter)
                    #expect(plan.contains { $0.contains("snapshot USING") }, "\(plan)")
                    // A root with few snapshots: they are read by the primary key and sorted.
                    let isSorted = isByTime && root != nil
                    #expect(plan.contains { $0.contains("TEMP B-TREE") } == isSorted, "\(plan)")
                    if isByTime {
                        let index = isSorted ? "PRIMARY KEY (root=?" : "snapshotOfAnyRootByTime"
                        #expect(plan.contains { $0.contains(index) }, "\(plan)")
                    }
                }
            }
        }
        func plan(_ filter: Catalogue.SnapshotFilter) throws -> String {
            try catalogue.plan(filter).joined(separator: "; ")
        }
        // A root's rows are adjacent, so the next page begins with one lookup.
        var next = Catalogue.SnapshotFilter(of: 1, until: time, since: time, newestFirst: newestFirst, limit: 10)
        next.behind = .init(sequence: 5, time: time, id: ChunkID(hashing: []))
        #expect(try plan(next).hasPrefix("SEARCH snapshot USING PRIMARY KEY (root=? AND (sequence,seconds,nanoseconds"))
        #expect(try plan(next).contains("(sequence,seconds,nanoseconds,id)\(newestFirst ? "<" : ">")"))
        #expect(!(try plan(next).contains("TEMP B-TREE")))
        for root in [nil, 1] as [Int64?] {
            let labelled = try plan(.init(of: root, label: "l", newestFirst: newestFirst, limit: 1))
            // Few snapshots have a label: those of one root are sorted by their sequence.
            #expect(labelled.contains("snapshotByLabel") && labelled.contains("TEMP B-TREE") == (root != nil))
            #expect(try plan(.init(of: root, idPrefix: "ab", newestFirst: newestFirst)).contains("snapshotByID"))
        }
    }

    @Test("the last snapshot of a root before a time is found by sorting if it has few, otherwise by the time index")
    func lastBefore() throws {
        let directory = try TemporaryDirectory()
        let catalogue = try ArchiveStore.open(directory.path, creating: true).catalogue
        var random = SeededGenerator("times")
        let records = (0..<5_000).map { number in
            ListedSnapshot.sample(
                number, at: Timestamp(seconds: Int64(random.below(40_000))), sequence: UInt64(number + 1),
                root: number % 1_000 == 0 ? "/quiet" : "/busy")
        }
        let segment = try catalogue.enterSegment("s", indexedLength: 0).number
        try catalogue.enter(segment: segment, length: 0, chunks: [], records: CommitRecords(snapshots: records))
        for name in ["/quiet", "/busy"] {
            let own = records.filter { $0.rootPath == Array(name.utf8) }
            let root = try #require(try catalogue.root(path: Array(name.utf8), machine: .unknown)).number
            var filter = Catalogue.SnapshotFilter(of: root, newestFirst: true, limit: 1)
            filter.isByTime = true
            filter.until = Timestamp(seconds: 1)
            let plan = try catalogue.plan(filter).joined()
            #expect(plan.contains(name == "/quiet" ? "PRIMARY KEY" : "snapshotOfAnyRootByTime"), "\(plan)")
            for _ in 0..<100 {
                let time = Timestamp(seconds: Int64(random.below(41_000)))
                filter.until = time
                let last = own.filter { $0.time <= time }.max { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
                #expect(try catalogue.snapshots(filter) == [last].compactMap { $0 })
            }
        }
    }

    @Test("a moment selects the last snapshot in order among those not later, however the times step back")
    func moments() throws {
        var random = SeededGenerator("moments")
        for round in 0..<12 {
            let directory = try TemporaryDirectory(inMemory: true)
            let store = try ArchiveStore.open(directory.path, creating: true)
            let catalogue = store.catalogue
            var time: Int64 = 0
            var records = (0..<400).map { number in
                time += Int64(random.below(20))
                // In some rounds the clock jumps often, in some never.
                if random.below(400) < round * round { time = Int64(random.below(8_000)) - 2_000 }
                let sequence = UInt64(number / (round % 3 + 1)) << (round % 2 == 0 ? 0 : 33)
                return ListedSnapshot.sample(number, at: Timestamp(seconds: time), sequence: sequence + 1)
            }
            let segment = try catalogue.enterSegment("s", indexedLength: 0).number
            try catalogue.enter(
                segment: segment, length: 0, chunks: [],
                records: CommitRecords(snapshots: records.shuffled(using: &random)))
            let root = try #require(try catalogue.root(path: Array("/root".utf8), machine: .unknown)).number
            for isThinned in [false, true] {
                if isThinned {
                    let gone = records.indices.filter { _ in random.below(3) == 0 }
                    try store.forget(Set(gone.map { records[$0].id.chunk }))
                    let ids = Set(gone.map { records[$0].id })
                    records.removeAll { ids.contains($0.id) }
                }
                let ordered = records.sorted { ($0.sequence, $0.time, $0.id) < ($1.sequence, $1.time, $1.id) }
                let isOrdered = zip(ordered, ordered.dropFirst()).allSatisfy { $0.time <= $1.time }
                #expect(try catalogue.isOrderedByTime(root: root) == isOrdered, "seed \(random.seed)")
                for _ in 0..<60 {
                    let time = Timestamp(seconds: Int64(random.below(10_000)) - 2_500)
                    let found = try catalogue.lastSnapshot(root: root, at: time)
                    #expect(found?.id == ordered.last { $0.time <= time }?.id, "seed \(random.seed)")
                }
            }
        }
    }

    @Test("the pages of a list add up to the list, even with equal times")
    func pieces() throws {
        let directory = try TemporaryDirectory()
        let catalogue = try ArchiveStore.open(directory.path, creating: true).catalogue
        var random = SeededGenerator()
        let records = (0..<60).map { number in
            ListedSnapshot.sample(
                number, at: Timestamp(seconds: Int64.random(in: 0..<9, using: &random)),
                sequence: UInt64.random(in: 1..<9, using: &random))
        }
        let segment = try catalogue.enterSegment("s", indexedLength: 0).number
        try catalogue.enter(segment: segment, length: 0, chunks: [], records: CommitRecords(snapshots: records))
        let byTime = records.sorted { ($0.time, $0.sequence, $0.id) < ($1.time, $1.sequence, $1.id) }
        let bySequence = records.sorted { ($0.sequence, $0.time, $0.id) < ($1.sequence, $1.time, $1.id) }
        for root in [nil, 1] as [Int64?] {
            let sorted = root == nil ? byTime : bySequence
            for (since, until) in [(nil, nil), (2, 6)] as [(Int64?, Int64?)] {
                let wanted = sorted.filter { ((since ?? 0)...(until ?? 9)).contains($0.time.seconds) }
                for newestFirst in [false, true] {
                    var filter = Catalogue.SnapshotFilter(
                        of: root, until: until.map { Timestamp(seconds: $0) },
                        since: since.map { Timestamp(seconds: $0) }, newestFirst: newestFirst, limit: 7)
                    #expect(try catalogue.count(filter) == wanted.count)
                    var found: [ListedSnapshot] = []
                    while true {
                        let piece = try catalogue.snapshots(filter)
                        found += piece
                        guard let last = piece.last, found.count <= records.count else { break }
                        filter.behind = .init(sequence: last.sequence, time: last.time, id: last.id.chunk)
                    }
                    #expect(found == (newestFirst ? wanted.reversed() : wanted), "TEST_SEED=\(random.seed)")
                }
            }
        }
    }

    @Test("a rebuilt catalogue equals the one that grew with the archive")
    func rebuild() throws {
        let archive = try Archive()
        func contents() throws -> ([ListedSnapshot], [ChunkID], [ListedSegment], [ListedRoot], [GapRecord]) {
            let catalogue = try ArchiveStore.open(archive.path, creating: false).catalogue
            var chunks: [ChunkID] = []
            try catalogue.forEachChunk { id, _ in
                chunks.append(id)
                return true
            }
            return (
                try catalogue.snapshots(), chunks, try catalogue.segments(), try catalogue.roots(), try catalogue.gaps()
            )
        }
        let live = try contents()
        let summary = try ArchiveStore.rebuildCatalogue(of: archive.path)
        let rebuilt = try contents()
        #expect(rebuilt == live)
        #expect(live.0 == archive.commits.map(\.record))
        #expect(live.4 == archive.gaps)
        #expect(
            try ArchiveStore.open(archive.path, creating: false).catalogue.operations() == archive.operations)
        #expect(summary.snapshots == archive.commits.count)
        #expect(summary.gaps == archive.gaps.count && summary.operations == archive.operations.count)
        #expect(summary.chunks == live.1.count)
        #expect(summary.segments == live.2.count)
        #expect(summary.damage.isEmpty && summary.cutBytes == 0)
    }

    @Test("a missing catalogue is rebuilt automatically")
    func missing() throws {
        let archive = try Archive()
        try archive.file.removeFile()
        try archive.expectWhole()
    }

    @Test("garbage in place of the catalogue is replaced automatically")
    func garbage() throws {
        let archive = try Archive()
        var random = SeededGenerator()
        let length = try archive.file.readFile().count
        for bytes in [random.noise(50_000), Array("not a database, but text".utf8), [], random.noise(length)] {
            try archive.file.writeFile(bytes)
            try archive.expectWhole("TEST_SEED=\(random.seed)")
        }
    }

    @Test("a damaged page of the catalogue may cause an error but never wrong data")
    func damagedPages() throws {
        let archive = try Archive(commits: 40)
        let good = try archive.file.readFile()
        var random = SeededGenerator()
        // In a short run, every third page.
        let step = isThorough ? 4096 : 3 * 4096
        for start in stride(from: 4096 * random.below(step / 4096), to: good.count, by: step) {
            var bytes = good
            bytes.replaceSubrange(start..<min(start + 4096, good.count), with: random.noise(4096))
            try archive.file.writeFile(bytes)
            let error = try failure { try readEverything(archive) }
            #expect(error?.code ?? .damaged == .damaged, "TEST_SEED=\(random.seed), page at \(start)")
            _ = try ArchiveStore.rebuildCatalogue(of: archive.path)
            try archive.expectWhole("page at \(start)")
        }
    }

    private func readEverything(_ archive: Archive) throws {
        let store = try ArchiveStore.open(archive.path, creating: false)
        for commit in archive.commits where try store.catalogue.hasSnapshot(commit.id) {
            for (id, bytes) in commit.chunks {
                let read = try store.read(id)
                #expect(read == bytes)
            }
        }
    }

    @Test("a catalogue older than the segments is brought up to date", arguments: [0, 1, 4])
    func older(known: Int) throws {
        let directory = try TemporaryDirectory()
        try ArchiveCreationTests.makeArchive(at: directory.path, segmentBytes: 2_000)
        let file = directory.path.appending("catalogue.sqlite")
        var commits: [Commit] = []
        let gaps = (0...8).map { GapRecord.sample($0) }
        var copy: [UInt8] = []
        for number in 0...8 {
            let store = try ArchiveStore.open(directory.path, creating: false)
            if number == known { copy = try file.readFile() }
            let contents = ["common", String(repeating: "abc \(number) ", count: 100)].map { Array($0.utf8) }
            commits.append(try store.commit(number, contents, parent: commits.last))
            try store.enter([gaps[number]])
        }
        try file.writeFile(copy)
        let store = try ArchiveStore.open(directory.path, creating: false)
        #expect(try store.catalogue.snapshots() == commits.map(\.record))
        #expect(try store.catalogue.gaps() == gaps)
        for commit in commits { #expect(try store.holds(commit)) }
    }

    @Test("the catalogue is not rebuilt while the archive is in use")
    func inUse() throws {
        let archive = try Archive()
        do {
            let store = try ArchiveStore.open(archive.path, creating: false)
            let error = try failure { try ArchiveStore.rebuildCatalogue(of: archive.path) }
            #expect(error?.code == .inUse)
            #expect(error?.remedy != nil)
            #expect(try store.holds(archive.commits[0]))
        }
        _ = try ArchiveStore.rebuildCatalogue(of: archive.path)
        try archive.expectWhole()
    }

    @Test("a segment of another archive is reported and left alone")
    func foreignSegment() throws {
        let archive = try Archive()
        let other = try TemporaryDirectory()
        let foreign = try ArchiveStore.open(other.path, creating: true).commit(99, [Array("foreign".utf8)])
        let source = try onlySegment(in: other.path)
        let name = try #require(source.lastComponent)
        let place = archive.path.appending("segments").appending(name)
        let bytes = try source.readFile()
        try place.writeFile(bytes)
        let summary = try ArchiveStore.rebuildCatalogue(of: archive.path)
        #expect(summary.unread.count == 1 && summary.damage.isEmpty)
        try archive.expectWhole()
        let store = try ArchiveStore.open(archive.path, creating: false)
        #expect(try !store.catalogue.hasSnapshot(foreign.id))
        #expect(try place.readFile() == bytes)
    }

    @Test("snapshots are found by root, label, id prefix and time")
    func filters() throws {
        let archive = try Archive()
        let catalogue = try ArchiveStore.open(archive.path, creating: false).catalogue
        let records = archive.commits.map(\.record)
        func numbers(_ filter: Catalogue.SnapshotFilter) throws -> [Int64] {
            try catalogue.snapshots(filter).map(\.time.seconds)
        }
        let root = try #require(try catalogue.roots().first).number
        #expect(try numbers(.init(of: root)).count == records.count)
        #expect(try numbers(.init(of: root + 1)).isEmpty)
        #expect(try numbers(.init(label: "3")) == [3])
        #expect(try numbers(.init(until: Timestamp(seconds: 2))) == [0, 1, 2])
        #expect(try numbers(.init(since: Timestamp(seconds: 5, nanoseconds: 1))) == [6, 7])
        #expect(try numbers(.init(newestFirst: true, limit: 2, offset: 1)) == [6, 5])
        for record in records {
            for digits in [0, 1, 2, 7, 63, 64] {
                let prefix = String(record.id.hex.prefix(digits))
                let expected = records.filter { $0.id.hex.hasPrefix(prefix) }
                #expect(try catalogue.snapshots(.init(idPrefix: prefix)) == expected, "\(prefix)")
            }
        }
        #expect(try catalogue.latestSnapshot(ofRoot: Array("/root".utf8), machine: .unknown) == records.last)
        #expect(try catalogue.latestSnapshot(ofRoot: Array("/root".utf8), machine: .sample) == nil)
    }
}
