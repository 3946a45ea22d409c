// Exclusion rules to CBOR and back.

public import Exclusions
internal import FileIO

extension ExclusionRules {
    /// The fields of exclusion rules; a field with the value of `ExclusionRules()` is left out.
    ///
    /// Numbers are part of the archive format.
    enum Field: Int, FieldKey {
        case patterns = 0
        case ignoreFileNames = 1
        case largerThan = 2
        case excludesCaches = 3
        case crossesMounts = 4
    }

    func write(to writer: inout CBORWriter) {
        let plain = ExclusionRules()
        let map = writer.beginSmallMap()
        var count = 0
        func field(_ field: Field, unless isDefault: Bool, _ write: (inout CBORWriter) -> Void) {
            if isDefault { return }
            count += 1
            writer.key(field)
            write(&writer)
        }
        field(.patterns, unless: patterns == plain.patterns) { $0.byteStrings(patterns) }
        field(.ignoreFileNames, unless: ignoreFileNames == plain.ignoreFileNames) { $0.byteStrings(ignoreFileNames) }
        if let largerThan { field(.largerThan, unless: false) { $0.unsigned(largerThan) } }
        field(.excludesCaches, unless: !excludesCaches) { $0.boolean(true) }
        field(.crossesMounts, unless: !crossesMounts) { $0.boolean(true) }
        writer.endSmallMap(map, count: count)
    }

    /// Reads the rules in a snapshot; unknown fields are skipped.
    init(from reader: inout CBORReader) throws(FormatError) {
        self.init()
        let plain = ExclusionRules()
        var fields = try reader.openFields(Field.self, depth: 1)
        while let field = try fields.next(&reader) {
            let isDefault: Bool
            switch field {
            case .patterns:
                patterns = try reader.byteStrings()
                isDefault = patterns == plain.patterns
            case .ignoreFileNames:
                ignoreFileNames = try reader.byteStrings()
                isDefault = ignoreFileNames == plain.ignoreFileNames
            case .largerThan:
                largerThan = try reader.unsigned()
                isDefault = false
            case .excludesCaches:
                excludesCaches = try reader.boolean()
                isDefault = !excludesCaches
            case .crossesMounts:
                crossesMounts = try reader.boolean()
                isDefault = !crossesMounts
            }
            guard !isDefault else { throw .malformed("a default value that is written out") }
        }
        guard self != plain || fields.hasUnknown else { throw .malformed("a default value that is written out") }
    }

    /// Checks the number of patterns, and that names of ignore files cannot lead out of a directory.
    func validate() throws(FormatError) {
        let isInside = ignoreFileNames.allSatisfy { name in
            !name.isEmpty && !name.contains(UInt8(ascii: "/")) && RelativePath(name) != nil
        }
        guard isInside else { throw .malformed("the name of an ignore file") }
        guard patterns.count <= FormatLimits.patterns, ignoreFileNames.count <= FormatLimits.patterns else {
            throw .malformed("too many patterns")
        }
    }
}

extension CBORWriter {
    fileprivate mutating func byteStrings(_ strings: [[UInt8]]) {
        array(count: strings.count)
        for string in strings { byteString(string) }
    }
}

extension CBORReader {
    fileprivate mutating func byteStrings() throws(FormatError) -> [[UInt8]] {
        var strings = [[UInt8]]()
        for _ in 0..<(try array(atMost: FormatLimits.patterns)) { strings.append(Array(try byteString())) }
        return strings
    }
}

// MARK: - Codable

extension ExclusionRules: Codable {
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        self.init()
        if let patterns = try fields.decodeIfPresent([ByteString].self, forKey: .patterns) {
            self.patterns = patterns.map(\.bytes)
        }
        if let names = try fields.decodeIfPresent([ByteString].self, forKey: .ignoreFileNames) {
            ignoreFileNames = names.map(\.bytes)
        }
        largerThan = try fields.decodeIfPresent(UInt64.self, forKey: .largerThan)
        excludesCaches = try fields.decodeIfPresent(Bool.self, forKey: .excludesCaches) ?? false
        crossesMounts = try fields.decodeIfPresent(Bool.self, forKey: .crossesMounts) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        let plain = ExclusionRules()
        var fields = encoder.container(keyedBy: Field.self)
        if patterns != plain.patterns { try fields.encode(patterns.map(ByteString.init), forKey: .patterns) }
        if ignoreFileNames != plain.ignoreFileNames {
            try fields.encode(ignoreFileNames.map(ByteString.init), forKey: .ignoreFileNames)
        }
        try fields.encodeIfPresent(largerThan, forKey: .largerThan)
        if excludesCaches { try fields.encode(true, forKey: .excludesCaches) }
        if crossesMounts { try fields.encode(true, forKey: .crossesMounts) }
    }
}
