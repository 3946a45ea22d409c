// Snapshots to CBOR and back.

internal import Exclusions
internal import FileIO

extension Snapshot {
    /// The fields of a snapshot.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case time = 0
        case rootPath = 1
        case host = 2
        case cause = 3
        case label = 4
        case parent = 5
        case tree = 6
        case totals = 7
        case changes = 8
        case changedPaths = 9
        case problems = 10
        case storedBytes = 11
        case ownerNames = 12
        case groupNames = 13
        case exclusions = 14
        case sequence = 15
        case machine = 16
        case isAside = 17
        case directory = 18
    }

    /// The snapshot as a chunk's bytes.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter(capacity: 512)
        let map = writer.beginSmallMap()
        var count = 5
        func field(_ field: Field, unless isDefault: Bool, _ write: (inout CBORWriter) -> Void) {
            if isDefault { return }
            count += 1
            writer.key(field)
            write(&writer)
        }
        writer.key(Field.time)
        writer.timestamp(time)
        writer.key(Field.rootPath)
        writer.byteString(rootPath)
        field(.host, unless: host.isEmpty) { $0.text(host) }
        writer.key(Field.cause)
        writer.text(cause.rawValue)
        field(.label, unless: label == nil) { $0.text(label ?? "") }
        if let parent { field(.parent, unless: false) { $0.chunkID(parent.chunk) } }
        writer.key(Field.tree)
        writer.chunkID(tree)
        field(.totals, unless: totals == Totals()) { totals.write(to: &$0) }
        field(.changes, unless: changes == ChangeCounts()) { changes.write(to: &$0) }
        field(.changedPaths, unless: changedPaths.isEmpty) {
            $0.array(count: changedPaths.count)
            for path in changedPaths { path.write(to: &$0) }
        }
        field(.problems, unless: problems.isEmpty) {
            $0.array(count: problems.count)
            for problem in problems { problem.write(to: &$0) }
        }
        field(.storedBytes, unless: storedBytes == 0) { $0.unsigned(storedBytes) }
        field(.ownerNames, unless: ownerNames.isEmpty) { $0.names(ownerNames) }
        field(.groupNames, unless: groupNames.isEmpty) { $0.names(groupNames) }
        field(.exclusions, unless: exclusions == ExclusionRules()) { exclusions.write(to: &$0) }
        writer.key(Field.sequence)
        writer.unsigned(sequence)
        field(.machine, unless: machine == .unknown) { $0.machine(machine) }
        field(.isAside, unless: !isAside) { $0.boolean(true) }
        if let directory { field(.directory, unless: false) { $0.chunkID(directory) } }
        writer.endSmallMap(map, count: count)
        return writer.bytes
    }
}

extension Snapshot {
    /// Reads a snapshot; unknown fields are skipped.
    ///
    /// - Throws: `FormatError` if the bytes, without those fields, are not the encoding of a valid snapshot.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = CBORReader(bytes)
        var time: Timestamp?
        var rootPath: [UInt8]?
        var host = ""
        var cause: Cause?
        var label: String?
        var parent: SnapshotID?
        var tree: ChunkID?
        var totals = Totals()
        var changes = ChangeCounts()
        var changedPaths = [ChangedPath]()
        var problems = [Problem]()
        var storedBytes: UInt64 = 0
        var ownerNames = [UInt32: String]()
        var groupNames = [UInt32: String]()
        var exclusions = ExclusionRules()
        var sequence: UInt64?
        var machine = MachineID.unknown
        var isAside = false
        var directory: ChunkID?

        var fields = try reader.openFields(Field.self, depth: 0)
        while let field = try fields.next(&reader) {
            switch field {
            case .time: time = try reader.timestamp()
            case .rootPath: rootPath = Array(try reader.byteString())
            case .host: host = try reader.presentText()
            case .cause: cause = Cause(rawValue: try reader.text())
            case .label: label = try reader.text()
            case .parent: parent = SnapshotID(try reader.chunkID())
            case .tree: tree = try reader.chunkID()
            case .totals: totals = try Totals(from: &reader)
            case .changes: changes = try ChangeCounts(from: &reader)
            case .changedPaths:
                for _ in 0..<(try reader.list(atMost: Snapshot.changedPathsLimit)) {
                    changedPaths.append(try ChangedPath(from: &reader))
                }
            case .problems:
                for _ in 0..<(try reader.list(atMost: Snapshot.problemsLimit)) {
                    problems.append(try Problem(from: &reader))
                }
            case .storedBytes: storedBytes = try reader.present(reader.unsigned())
            case .ownerNames: ownerNames = try reader.names()
            case .groupNames: groupNames = try reader.names()
            case .exclusions: exclusions = try ExclusionRules(from: &reader)
            case .sequence: sequence = try reader.unsigned()
            case .machine: machine = try reader.machine()
            case .isAside:
                isAside = try reader.boolean()
                guard isAside else { throw .malformed("a default value that is written out") }
            case .directory: directory = try reader.chunkID()
            }
        }
        try reader.finish()
        guard let time, let rootPath, let cause, let tree, let sequence else {
            throw .malformed("a snapshot with fields missing")
        }
        self.init(
            time: time, rootPath: rootPath, host: host, cause: cause, label: label, parent: parent, tree: tree,
            totals: totals, changes: changes, changedPaths: changedPaths, problems: problems, storedBytes: storedBytes,
            ownerNames: ownerNames, groupNames: groupNames, exclusions: exclusions, sequence: sequence,
            machine: machine, isAside: isAside, directory: directory)
        try validate()
    }

    /// Reads a snapshot.
    package init(decoding bytes: [UInt8]) throws(FormatError) {
        self = try bytes.withRawBytes(Snapshot.init(decoding:))
    }

    /// Checks the limits and the order of a snapshot's parts.
    func validate() throws(FormatError) {
        try FormatLimits.check(time)
        try FormatLimits.check(bytes: host, FormatLimits.hostBytes, "a machine's name")
        try FormatLimits.check(bytes: label, FormatLimits.textBytes, "a label")
        guard (1...Snapshot.sequenceLimit).contains(sequence) else {
            throw .malformed("a sequence number out of range")
        }
        guard changedPaths.count <= Snapshot.changedPathsLimit else { throw .malformed("too many changed paths") }
        guard zip(changedPaths, changedPaths.dropFirst()).allSatisfy({ $0.path < $1.path }) else {
            throw .malformed("changed paths out of order")
        }
        guard problems.count <= Snapshot.problemsLimit else { throw .malformed("too many problems") }
        guard zip(problems, problems.dropFirst()).allSatisfy({ !($1.path < $0.path) }) else {
            throw .malformed("problems out of order")
        }
        try exclusions.validate()
        try FormatLimits.check(storedBytes, FormatLimits.bytes, "stored bytes")
        try FormatLimits.check(totals.bytes, FormatLimits.bytes, "a sum of sizes")
        for count in [totals.files, totals.directories, totals.others] {
            try FormatLimits.check(count, FormatLimits.entries, "a total")
        }
        for count in [changes.added, changes.modified, changes.removed] {
            try FormatLimits.check(count, FormatLimits.entries, "a number of changes")
        }
    }
}

extension CBORWriter {
    /// Appends a map from number to name.
    fileprivate mutating func names(_ names: [UInt32: String]) {
        map(count: names.count)
        for (number, name) in names.sorted(by: { $0.key < $1.key }) {
            unsigned(UInt64(number))
            text(name)
        }
    }
}

extension CBORReader {
    /// Begins an array that is left out when it is empty, so an empty one is refused.
    fileprivate mutating func list(atMost limit: Int) throws(FormatError) -> Int {
        try present(array(atMost: limit))
    }

    fileprivate mutating func names() throws(FormatError) -> [UInt32: String] {
        var names = [UInt32: String]()
        var previous = -1
        let count = try present(map())
        guard count <= Snapshot.namesLimit else { throw .malformed("too many names") }
        for _ in 0..<count {
            let number = try unsigned(UInt32.self)
            guard Int(number) > previous else { throw .malformed("CBOR map keys out of order or repeated") }
            previous = Int(number)
            names[number] = try text()
        }
        return names
    }
}
