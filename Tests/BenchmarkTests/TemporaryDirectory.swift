// A directory for one test, removed with all that is in it.

import Foundation
import SystemPackage

final class TemporaryDirectory {
    let path: FilePath

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "benchmark-tests-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = FilePath(url.path(percentEncoded: false))
    }

    deinit { try? FileManager.default.removeItem(atPath: path.string) }
}
