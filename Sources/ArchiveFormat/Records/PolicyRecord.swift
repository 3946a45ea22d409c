// A policy: which snapshots are kept, and how much room the archive may take.

package import FileIO

/// What is kept of a root, or of all roots: of all records about it the latest counts.
package struct PolicyRecord: ArchiveRecord {
    package static let kind = ChunkKind.policy

    /// One snapshot for each span of `width` seconds, up to an age.
    package struct Tier: Codable, Hashable, Sendable {
        /// In seconds; 0 for every snapshot.
        package let width: UInt64
        /// Up to so many seconds; nil for ever.
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

    /// The root's absolute path, as bytes; nil for all roots that have no policy of their own.
    package let rootPath: [UInt8]?
    /// The machine's name, for people.
    package let host: String
    /// The machine that the root is on.
    package let machine: MachineID
    /// When it was set; later than the policy that was set before.
    package let time: Timestamp
    /// By width; empty: everything is kept.
    package let tiers: [Tier]
    /// The most bytes that the archive may take; nil for no limit.
    package let maxSize: UInt64?
    /// The bytes that its file system is to have free at least.
    package let minFreeBytes: UInt64?
    /// The share of its file system that is to be free at least, in percent.
    package let minFreePercent: UInt64?
    /// Whether there is no policy any more: a root has the policy of all again, and all the default.
    package let isRemoved: Bool

    /// The most tiers.
    package static let limit = 16

    package init(
        rootPath: [UInt8]? = nil, host: String = "", machine: MachineID = .unknown, time: Timestamp,
        tiers: [Tier] = [], maxSize: UInt64? = nil, minFreeBytes: UInt64? = nil, minFreePercent: UInt64? = nil,
        isRemoved: Bool = false
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
            isRemoved: try fields.decodeIfPresent(Bool.self, forKey: .isRemoved) ?? false)
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
    }

    /// What is wrong with it; a policy that nobody could follow is not stored either.
    package func validate() throws(FormatError) {
        let room = [maxSize, minFreeBytes, minFreePercent].compactMap { $0 }
        if isRemoved, !tiers.isEmpty || !room.isEmpty {
            throw .malformed("a policy that is removed and says something")
        }
        if rootPath == nil, !host.isEmpty || machine != .unknown { throw .malformed("a machine of no root") }
        if rootPath != nil, !room.isEmpty { throw .malformed("a size for one root: it is the whole archive's") }
        if let maxSize { try FormatLimits.check(maxSize, FormatLimits.bytes, "a size") }
        if let minFreeBytes { try FormatLimits.check(minFreeBytes, FormatLimits.bytes, "a size") }
        if let minFreePercent { try FormatLimits.check(minFreePercent, 100, "a share") }
        if maxSize == 0 { throw .malformed("an archive of no bytes") }
        try PolicyRecord.validate(tiers)
    }

    /// Refuses tiers of which a wider one would keep what a narrower one has let go.
    private static func validate(_ tiers: [Tier]) throws(FormatError) {
        guard tiers.count <= limit else { throw .malformed("more than \(limit) tiers") }
        for (index, tier) in tiers.enumerated() {
            try FormatLimits.check(tier.width, FormatLimits.entries, "a width")
            if let age = tier.age { try FormatLimits.check(age, FormatLimits.entries, "an age") }
            if tier.age == 0 { throw .malformed("a tier that keeps nothing") }
            if tier.age == nil, index != tiers.count - 1 { throw .malformed("a tier behind one that is for ever") }
            guard index > 0 else { continue }
            let narrower = tiers[index - 1]
            guard narrower.width < tier.width, narrower.width == 0 || tier.width.isMultiple(of: narrower.width) else {
                throw .malformed("tiers whose spans do not nest")
            }
            if let age = tier.age, let earlier = narrower.age, age <= earlier { throw .malformed("tiers out of order") }
        }
    }
}
