// What the library's errors carry.

import ArchiverKit
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite struct ErrorTests {
    @Test("an error carries its code, the path concerned and the error that caused it")
    func cause() throws {
        let place = try TemporaryDirectory()
        let archive = try Archive.open(place.path.appending("archive"), creating: true)
        let missing = #expect(throws: ArchiverError.self) { try archive.capture(place.path.appending("none")) }
        #expect(missing?.code == .noSuchDirectory && missing?.path == place.path.appending("none"))
        #expect((missing?.cause as? FileError)?.code == .noSuchFileOrDirectory)
        _ = try place.write("file", "x")
        let file = #expect(throws: ArchiverError.self) { try archive.capture(place.path.appending("file")) }
        #expect(file?.code == .notDirectory && (file?.cause as? FileError)?.code == .notDirectory)
    }

    @Test("an error that no other error has caused has no cause")
    func withoutCause() throws {
        let archive = try Archive.inMemory()
        let error = #expect(throws: ArchiverError.self) { try archive.snapshot("none") }
        #expect(error?.code == .noSuchSnapshot && error?.cause == nil)
    }
}
