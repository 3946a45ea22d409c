// A byte buffer for lists with a hundred thousand lines.

internal import ArchiveFormat
internal import FileIO

/// A buffer for lines, to which values are appended without intermediate strings.
///
/// An array would check at every append whether it is uniquely referenced.
struct LineBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity = 4096
    private(set) var count = 0

    init() { start = .allocate(capacity: capacity) }

    deinit { start.deallocate() }

    var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }

    func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    mutating func removeAll() { count = 0 }

    /// Reserves `more` bytes and includes them in `count`.
    ///
    /// - Returns: the first of the reserved bytes.
    @inline(__always)
    private mutating func grow(by more: Int) -> UnsafeMutablePointer<UInt8> {
        if count + more > capacity {
            let larger = max(count + more, 2 * capacity)
            let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
            moved.update(from: start, count: count)
            start.deallocate()
            (start, capacity) = (moved, larger)
        }
        defer { count += more }
        return start + count
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let first = bytes.baseAddress else { return }
        grow(by: bytes.count).update(from: first, count: bytes.count)
    }

    mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    mutating func append(byte: Unicode.Scalar) { grow(by: 1).pointee = UInt8(ascii: byte) }

    /// Appends a decimal number.
    mutating func append(_ number: UInt64) {
        if number < 10 {
            grow(by: 1).pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)
            return
        }
        var width = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            width += 1
        }
        append(number, width: width)
    }

    /// Appends the last `width` digits of a decimal number, with leading zeros.
    mutating func append(_ number: UInt64, width: Int) {
        let digits = grow(by: width)
        var rest = number
        var place = width
        while place > 0 {
            place -= 1
            digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Appends the first `count` bytes of `id` as hex digits.
    mutating func append(_ id: ChunkID, count: Int = ChunkID.byteCount) {
        let digits = grow(by: 2 * count)
        id.withUnsafeBytes { id in
            for index in 0..<count {
                digits[2 * index] = LineBuffer.hexDigit(id[index] >> 4)
                digits[2 * index + 1] = LineBuffer.hexDigit(id[index] & 15)
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}

/// Writes times in RFC 3339; caches the text of the last minute.
struct TimeWriter {
    /// Whether times are local, as `LocalTime.plain` writes them; otherwise they are in UTC.
    private let isLocal: Bool
    /// "Z", or the zone of the cached minute.
    private var zone: [UInt8] = []
    /// The second at which the cached minute begins.
    private var start: Int64 = 0
    /// "2026-11-21T10:15:".
    private var minute: [UInt8] = []

    init(isLocal: Bool = false) { self.isLocal = isLocal }

    /// Appends `time` in the same form as `Timestamp.rfc3339` or `LocalTime.plain`.
    mutating func append(_ time: Timestamp, to line: inout LineBuffer) {
        var second = UInt64(bitPattern: time.seconds &- start)
        if minute.isEmpty || time.seconds < start || second >= 60 {
            let text = Array((isLocal ? LocalTime.plain(time) : time.rfc3339).utf8)
            // What follows "2026-11-21T10:15:" is "30.123456789" and the zone; zones differ by whole minutes.
            let end = (text.lastIndex(of: UInt8(ascii: ".")) ?? 2) - 2
            (minute, zone) = (Array(text[..<end]), Array(text[(end + 12)...]))
            second = UInt64((time.seconds % 60 + 60) % 60)
            start = time.seconds &- Int64(second)
        }
        line.append(minute)
        line.append(second, width: 2)
        line.append(byte: ".")
        line.append(UInt64(time.nanoseconds), width: 9)
        line.append(zone)
    }
}
