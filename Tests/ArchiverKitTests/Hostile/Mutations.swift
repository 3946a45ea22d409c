// Random changes of bytes and of the CBOR values that they encode.

import ArchiveFormat
import TestSupport

/// Changes of bytes regardless of their meaning.
enum BytesMutation {
    /// `bytes` with a few changes: bytes are flipped, removed, inserted or cut off; parts are moved or duplicated.
    static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(3) where !bytes.isEmpty {
            switch random.below(9) {
            case 0...3: change(&bytes, &random)
            case 4: bytes.removeSubrange(range(in: bytes, &random, limit: 64))
            case 5: bytes.insert(contentsOf: random.noise(1 + random.below(64)), at: random.below(bytes.count + 1))
            case 6: bytes.removeLast(random.below(bytes.count))
            case 7:
                let part = bytes[range(in: bytes, &random, limit: 4_096)]
                bytes.insert(contentsOf: Array(part), at: random.below(bytes.count + 1))
            default:
                let first = range(in: bytes, &random, limit: 4_096)
                let part = Array(bytes[first])
                bytes.removeSubrange(first)
                bytes.insert(contentsOf: part, at: random.below(bytes.count + 1))
            }
        }
        return bytes
    }

    /// Changes one byte.
    static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)]
        default: bytes[place] = UInt8(random.below(256))
        }
    }

    private static func range(in bytes: [UInt8], _ random: inout SeededGenerator, limit: Int) -> Range<Int> {
        let start = random.below(bytes.count)
        return start..<min(bytes.count, start + 1 + random.below(limit))
    }
}

/// Changes of a record that leave it valid CBOR.
enum ValueMutation {
    /// `bytes` with one CBOR item changed; changed as bytes if they are not CBOR, and at random in one of four cases.
    static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        guard !random.oneIn(4), let value = try? CBORValue(decoding: bytes) else {
            return BytesMutation.mutated(bytes, &random)
        }
        var place = random.below(count(of: value))
        return changed(value, &place, &random).encoded()
    }

    private static func count(of value: CBORValue) -> Int {
        switch value {
        case .array(let items): items.reduce(1) { $0 + count(of: $1) }
        case .map(let pairs): pairs.reduce(1) { $0 + count(of: $1.value) }
        default: 1
        }
    }

    /// The value with one item changed.
    ///
    /// - Parameter place: the number of items before the one to change; negative after it has been changed.
    private static func changed(
        _ value: CBORValue, _ place: inout Int, _ random: inout SeededGenerator
    ) -> CBORValue {
        place -= 1
        if place < 0 { return other(value, &random) }
        switch value {
        case .array(let items):
            return .array(items.map { place < 0 ? $0 : changed($0, &place, &random) })
        case .map(let pairs):
            return .map(pairs.map { ($0.key, place < 0 ? $0.value : changed($0.value, &place, &random)) })
        default: return value
        }
    }

    private static func other(_ value: CBORValue, _ random: inout SeededGenerator) -> CBORValue {
        switch value {
        case .unsigned(let number):
            let numbers = [
                0, 1, number &+ 1, number &- 1, 1 << 24, 1 << 31, 1 << 32, 1 << 62, UInt64(Int64.max), 1 << 63, .max,
            ]
            return .unsigned(numbers[random.below(numbers.count)])
        case .bytes(let bytes) where !bytes.isEmpty:
            var bytes = bytes
            BytesMutation.change(&bytes, &random)
            return .bytes(bytes)
        case .array(let items) where !items.isEmpty:
            var items = items
            let place = random.below(items.count)
            switch random.below(3) {
            case 0: items.remove(at: place)
            case 1: items.insert(items[place], at: random.below(items.count + 1))
            default: items.swapAt(place, random.below(items.count))
            }
            return .array(items)
        case .map(let pairs) where !pairs.isEmpty:
            var pairs = pairs
            let place = random.below(pairs.count)
            if random.oneIn(2) {
                pairs.remove(at: place)
            } else {
                pairs[place].value = .unsigned(UInt64(random.below(8)))
            }
            return .map(pairs)
        default: return [.null, .unsigned(.max), .bytes([]), .array([]), .boolean(true)][random.below(5)]
        }
    }
}
