// Writes deterministic CBOR (RFC 8949 §4.2.1) item by item into one array, without values in between.

/// The major types of RFC 8949 §3.1 that the format uses.
enum CBORMajor: UInt8 {
    case unsigned = 0
    case negative = 1
    case bytes = 2
    case text = 3
    case array = 4
    case map = 5
    /// Tags: never written, always refused.
    case tag = 6
    case simple = 7
}

/// Limits and single-byte items that writer and reader share.
enum CBOR {
    /// The most nested arrays and maps.
    static let depthLimit = 128

    static let `false`: UInt8 = 0xf4
    static let `true`: UInt8 = 0xf5
    static let null: UInt8 = 0xf6
    static let half: UInt8 = 0xf9
    static let single: UInt8 = 0xfa
    static let double: UInt8 = 0xfb
    /// The one encoding of every NaN, as a half-precision pattern.
    static let notANumber: UInt16 = 0x7e00
}

/// Appends CBOR items to an array of bytes.
///
/// The writer always chooses the shortest form of lengths and integers. The caller must write as many items as it
/// announced, and map keys in ascending order.
package struct CBORWriter {
    /// The bytes written so far.
    package private(set) var bytes = [UInt8]()

    /// - Parameter capacity: the expected number of bytes.
    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    @inline(__always)
    private mutating func head(_ major: CBORMajor, _ argument: UInt64) {
        let initial = major.rawValue << 5
        if argument < 24 {
            bytes.append(initial | UInt8(truncatingIfNeeded: argument))
        } else {
            longHead(initial, argument)
        }
    }

    private mutating func longHead(_ initial: UInt8, _ argument: UInt64) {
        if argument <= 0xff {
            bytes.append(initial | 24)
            bytes.append(UInt8(truncatingIfNeeded: argument))
        } else if argument <= 0xffff {
            bytes.append(initial | 25)
            bigEndian(UInt16(truncatingIfNeeded: argument))
        } else if argument <= 0xffff_ffff {
            bytes.append(initial | 26)
            bigEndian(UInt32(truncatingIfNeeded: argument))
        } else {
            bytes.append(initial | 27)
            bigEndian(argument)
        }
    }

    @inline(__always)
    private mutating func bigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func unsigned(_ value: UInt64) { head(.unsigned, value) }

    package mutating func integer(_ value: Int64) {
        if value >= 0 { head(.unsigned, UInt64(value)) } else { head(.negative, UInt64(~value)) }
    }

    /// Appends the integer `-1 - complement`, which may be below `Int64.min`.
    package mutating func negative(complement: UInt64) { head(.negative, complement) }

    package mutating func byteString(_ value: UnsafeRawBufferPointer) {
        head(.bytes, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func byteString(_ value: [UInt8]) {
        value.withUnsafeBytes { byteString($0) }
    }

    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 {
            head(.text, UInt64($0.count))
            bytes.append(contentsOf: $0)
        }
    }

    /// Begins an array of `count` items.
    package mutating func array(count: Int) { head(.array, UInt64(count)) }

    /// Begins a map of `count` pairs of key and value.
    package mutating func map(count: Int) { head(.map, UInt64(count)) }

    package mutating func boolean(_ value: Bool) { bytes.append(value ? CBOR.true : CBOR.false) }

    package mutating func null() { bytes.append(CBOR.null) }

    /// Appends `value` in the shortest precision that preserves it: half, single or double (RFC 8949 §4.2.1, §4.2.2).
    package mutating func float(_ value: Double) {
        if value.isNaN {
            bytes.append(CBOR.half)
            bigEndian(CBOR.notANumber)
        } else if Double(Float16(value)) == value {
            bytes.append(CBOR.half)
            bigEndian(Float16(value).bitPattern)
        } else if Double(Float(value)) == value {
            bytes.append(CBOR.single)
            bigEndian(Float(value).bitPattern)
        } else {
            bytes.append(CBOR.double)
            bigEndian(value.bitPattern)
        }
    }

    /// Appends an item that is already encoded.
    package mutating func encoded(_ item: some Collection<UInt8>) { bytes.append(contentsOf: item) }
}

// MARK: - Maps whose number of pairs is known only at the end

extension CBORWriter {
    /// Begins a map of fewer than 24 pairs; `endSmallMap` fills in the number.
    ///
    /// - Returns: the position where the map begins, for `endSmallMap`.
    @inline(__always)
    mutating func beginSmallMap() -> Int {
        bytes.append(0)
        return bytes.count - 1
    }

    /// Ends the map that began at `start`.
    @inline(__always)
    mutating func endSmallMap(_ start: Int, count: Int) {
        precondition(count < 24)
        bytes[start] = CBORMajor.map.rawValue << 5 | UInt8(truncatingIfNeeded: count)
    }
}
