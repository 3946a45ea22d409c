// The files of `fixtures/golden-values`: bytes that version 1 of the format wrote. They are never edited.

import ArchiveFormat
import Foundation

enum Fixtures {
    static var goldenValues: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "fixtures/golden-values")
    }

    static func golden(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: goldenValues.appending(path: name)))
    }
}

/// Bytes from hex digits; spaces are ignored.
func hex(_ text: String) -> [UInt8] { Hex.bytes(text.filter { $0 != " " }) ?? [] }
