// Sizes on the command line.

internal import ArchiverKit
internal import ArgumentParser

/// A number of bytes such as `512`, `500K`, `100M`, `2G`, `1T`, in binary units; `KiB` and `kB` mean `K`.
struct SizeArgument: ExpressibleByArgument, Sendable, Hashable {
    let bytes: UInt64

    private static let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]

    init?(argument: String) {
        var text = argument.uppercased()[...]
        for ending in ["IB", "B"] where text.hasSuffix(ending) {
            text = text.dropLast(ending.count)
            break
        }
        var unit: UInt64 = 1
        if let last = text.last, let named = SizeArgument.units[last] {
            unit = named
            text = text.dropLast()
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text) else {
            return nil
        }
        let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit)
        if isTooMuch { return nil }
        self.bytes = bytes
    }

    var defaultValueDescription: String { ByteCount.text(bytes) }
}
