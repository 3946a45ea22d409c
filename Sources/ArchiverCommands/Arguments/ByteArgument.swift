// Command-line arguments as bytes, because a file name may hold any byte and the argument parser accepts only text.
//
// Bytes that are not UTF-8 pass through the parser as private-use characters; commands turn them back into bytes.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO

/// An argument as bytes.
struct ByteArgument: ExpressibleByArgument, Sendable, Hashable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(argument: String) { bytes = ByteArgument.bytes(of: argument) }

    var defaultValueDescription: String { Escaping.text(bytes) }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// The characters that stand for bytes 0x80 to 0xFF, at the end of the last private-use plane.
    private static let stand: ClosedRange<UInt32> = 0x10_FF80...0x10_FFFF
    private static let offset: UInt32 = 0x10_FF00

    /// The process's arguments without its name, as text for the parser.
    static func ofProcess() -> [String] {
        CurrentProcess.arguments.dropFirst().map { text(of: $0) }
    }

    /// The text that stands for `bytes`; UTF-8 stays as it is, except the characters that stand for bytes.
    static func text(of bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var runs = UTF8Runs(bytes)
        while let run = runs.next() {
            switch run {
            case .scalar(let scalar) where stand.contains(scalar.value):
                for byte in String(scalar).utf8 { append(byte, to: &text) }
            case .scalar(let scalar): text.append(scalar)
            case .invalid(let byte): append(byte, to: &text)
            }
        }
        return String(text)
    }

    private static func append(_ byte: UInt8, to text: inout String.UnicodeScalarView) {
        if let scalar = Unicode.Scalar(offset + UInt32(byte)) { text.append(scalar) }
    }

    /// The bytes that `text` stands for.
    static func bytes(of text: String) -> [UInt8] {
        var bytes = [UInt8]()
        for scalar in text.unicodeScalars {
            if stand.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - offset))
            } else {
                bytes += String(scalar).utf8
            }
        }
        return bytes
    }
}
