// The record of a policy: which snapshots are kept, and how much space the archive may use.

package import FileIO

/// The policy of one root, or of all roots without their own; the last record counts.
package struct PolicyRecord: ArchiveRecord {
    package static let kind = ChunkKind.policy
    package var times: [Timestamp] { [time] }
    package var texts: [(text: String?, limit: Int)] {
        [(host, FormatLimits.hostBytes)]
    }

    /// Keeps one snapshot in each span of `width` seconds, up to an age.
    package struct Tier: Codable, Hashable, Sendable {
        /// The width of a span in seconds; 0 keeps every snapshot.
        package let width: UInt64
        /// The greatest age in seconds; nil for no limit.
        package let age: UInt64?

        package init(width: UInt64, age: UInt64?) {
            self.width = width
            self.age = age
        }

        package init(from decoder: any Decoder) throws {
            var numbers = try decoder.unkeyedContainer()
            width = try numbers.decode(UInt64.self)
            age = numbers.isAtEnd ? nil : try numbers.decode(UInt64.self)
            guard numbers.isAtEnd else { throw decoder.corrupted("a tier of more than two numbers") }
        }

        package func encode(to encoder: any Encoder) throws {
            var numbers = encoder.unkeyedContainer()
            try numbers.encode(width)
            if let age { try numbers.encode(age) }
        }
    }

    /// The root's absolute path, as bytes; nil for all roots without a policy of their own.
    package let rootPath: [UInt8]?
    /// The machine's name, for people.
    package let host: String
    /// The machine that the root is on.
    package let machine: MachineID
    /// When the policy was set, as the clock showed it.
    package let time: Timestamp
    /// The tiers in ascending order of width; if there are none, everything is kept.
    package let tiers: [Tier]
    /// The most bytes that the archive may use; nil for no limit.
    package let maxSize: UInt64?
    /// The least free bytes of the archive's file system; nil for no limit.
    package let minFreeBytes: UInt64?
    /// The least free share of the archive's file system in percent; nil for no limit.
    package let minFreePercent: UInt64?
    /// Whether this removes the policy.
    ///
    /// Without its own policy, a root uses the policy of all roots; without that one, all roots use the default.
    package let isRemoved: Bool
    /// Its place among the policies of the root, or of all roots: the last one counts.
    package let sequence: UInt64

    /// The most tiers.
    package static let limit = 16

    package init(
        rootPath: [UInt8]? = nil, host: String = "", machine: MachineID = .unknown, time: Timestamp,
        tiers: [Tier] = [], maxSize: UInt64? = nil, minFreeBytes: UInt64? = nil, minFreePercent: UInt64? = nil,
        isRemoved: Bool = false, sequence: UInt64 = 1
    ) {
        self.rootPath = rootPath
        self.host = host
        self.machine = machine
        self.time = time
        self.tiers = tiers
        self.maxSize = maxSize
        self.minFreeBytes = minFreeBytes
        self.minFreePercent = minFreePercent
        self.isRemoved = isRemoved
        self.sequence = sequence
    }
}

extension PolicyRecord {
    package enum CodingKeys: Int, CodingKey, CaseIterable {
        case rootPath = 0
        case host = 1
        case machine = 2
        case time = 3
        case tiers = 4
        case maxSize = 5
        case minFreeBytes = 6
        case minFreePercent = 7
        case isRemoved = 8
        case sequence = 9
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            rootPath: try fields.decodeIfPresent(ByteString.self, forKey: .rootPath)?.bytes,
            host: try fields.decodeIfPresent(String.self, forKey: .host) ?? "",
            machine: try fields.decodeIfPresent(MachineID.self, forKey: .machine) ?? .unknown,
            time: try fields.decode(Timestamp.self, forKey: .time),
            tiers: try fields.decodeIfPresent([Tier].self, forKey: .tiers) ?? [],
            maxSize: try fields.decodeIfPresent(UInt64.self, forKey: .maxSize),
            minFreeBytes: try fields.decodeIfPresent(UInt64.self, forKey: .minFreeBytes),
            minFreePercent: try fields.decodeIfPresent(UInt64.self, forKey: .minFreePercent),
            isRemoved: try fields.decodeIfPresent(Bool.self, forKey: .isRemoved) ?? false,
            sequence: try fields.decodeIfPresent(UInt64.self, forKey: .sequence) ?? 1)
        try decoder.checking { () throws(FormatError) in try validate() }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(rootPath.map(ByteString.init), forKey: .rootPath)
        if !host.isEmpty { try fields.encode(host, forKey: .host) }
        if machine != .unknown { try fields.encode(machine, forKey: .machine) }
        try fields.encode(time, forKey: .time)
        if !tiers.isEmpty { try fields.encode(tiers, forKey: .tiers) }
        try fields.encodeIfPresent(maxSize, forKey: .maxSize)
        try fields.encodeIfPresent(minFreeBytes, forKey: .minFreeBytes)
        try fields.encodeIfPresent(minFreePercent, forKey: .minFreePercent)
        if isRemoved { try fields.encode(isRemoved, forKey: .isRemoved) }
        if sequence != 1 { try fields.encode(sequence, forKey: .sequence) }
    }

    /// Checks the rules of policies; an invalid policy is neither read nor stored.
    package func validate() throws(FormatError) {
        let room = [maxSize, minFreeBytes, minFreePercent].compactMap { $0 }
        if isRemoved, !tiers.isEmpty || !room.isEmpty {
            throw .malformed("a removed policy has settings")
        }
        if rootPath == nil, !host.isEmpty || machine != .unknown {
            throw .malformed("a policy has a machine but no root")
        }
        if rootPath != nil, !room.isEmpty {
            throw .malformed("a policy of one root limits the space of the whole archive")
        }
        if let maxSize { try FormatLimits.check(maxSize, FormatLimits.bytes, "a size") }
        if let minFreeBytes { try FormatLimits.check(minFreeBytes, FormatLimits.bytes, "a size") }
        if let minFreePercent { try FormatLimits.check(minFreePercent, 100, "a share") }
        if maxSize == 0 { throw .malformed("the maximum size is 0") }
        try PolicyRecord.validate(tiers)
    }

    /// Refuses tiers in which a wider tier would keep a snapshot that a narrower tier drops.
    private static func validate(_ tiers: [Tier]) throws(FormatError) {
        guard tiers.count <= limit else { throw .malformed("more than \(limit) tiers") }
        for (index, tier) in tiers.enumerated() {
            try FormatLimits.check(tier.width, FormatLimits.entries, "a width")
            if let age = tier.age { try FormatLimits.check(age, FormatLimits.entries, "an age") }
            if tier.age == 0 { throw .malformed("a tier keeps nothing") }
            if tier.age == nil, index != tiers.count - 1 { throw .malformed("a tier follows one without an end") }
            guard index > 0 else { continue }
            let narrower = tiers[index - 1]
            guard narrower.width < tier.width, narrower.width == 0 || tier.width.isMultiple(of: narrower.width) else {
                throw .malformed("the spans of tiers do not nest")
            }
            if let age = tier.age, let earlier = narrower.age, age <= earlier {
                throw .malformed("tiers are out of order")
            }
        }
    }
}

extension ChunkKind {
    /// An encoded `PolicyRecord`.
    package static let policy = ChunkKind(rawValue: 13)
}
