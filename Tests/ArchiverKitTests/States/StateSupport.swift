// Helpers for the tests of states.

import ArchiverKit
import Foundation
import SavedStates
import SystemPackage

/// Runs `body` on `count` threads concurrently and waits for all of them.
func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(number)
            group.leave()
        }
    }
    group.wait()
}

extension StateContent {
    /// The state as JSON.
    func text(pretty: Bool) throws -> String {
        var text: [UInt8] = []
        try writeJSON(pretty: pretty) { text += $0 }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Sandbox {
    /// A copy of the archive elsewhere, with a rebuilt catalogue.
    func copyWithoutCatalogue() throws -> Archive {
        let copy = base.directory.appending("copy-\(UInt64.random(in: 0...UInt64.max))")
        try FileManager.default.copyItem(atPath: archive.directory.string, toPath: copy.string)
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: copy.appending("catalogue.sqlite" + suffix).string)
        }
        return try Archive.open(copy)
    }
}

extension FilePath {
    /// The size of all files below the directory, in bytes.
    func bytesBelow() throws -> Int {
        guard let names = FileManager.default.enumerator(atPath: string) else { throw SystemFailure("list", self) }
        return try names.reduce(0) { sum, name in
            guard let name = name as? String else { return sum }
            let attributes = try FileManager.default.attributesOfItem(atPath: string + "/" + name)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }
}
