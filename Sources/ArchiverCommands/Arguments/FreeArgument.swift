// The space limits of `keep`: a size or `none`, and a size or a percentage of the file system.

internal import ArgumentParser

/// A size such as `20G`, or `none`.
struct LimitArgument: ExpressibleByArgument, Sendable, Hashable {
    /// Nil for `none`.
    let bytes: UInt64?

    init?(argument: String) {
        if argument == "none" {
            bytes = nil
            return
        }
        guard let size = SizeArgument(argument: argument), size.bytes > 0 else { return nil }
        bytes = size.bytes
    }
}

/// A percentage such as `10%`, or a size such as `5G`.
struct FreeArgument: ExpressibleByArgument, Sendable, Hashable {
    let bytes: UInt64?
    let percent: UInt64?

    init?(argument: String) {
        guard argument.hasSuffix("%") else {
            guard let size = SizeArgument(argument: argument) else { return nil }
            (bytes, percent) = (size.bytes, nil)
            return
        }
        let digits = argument.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let percent = UInt64(digits),
            percent <= 100
        else { return nil }
        (bytes, self.percent) = (nil, percent)
    }
}
