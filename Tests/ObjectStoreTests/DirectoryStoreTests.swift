// What only a directory can do wrong.

import FileIO
import Foundation
import Glibc
import ObjectStore
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct DirectoryStoreTests {
    private let place: TemporaryDirectory
    private let name: ObjectName

    init() throws {
        place = try TemporaryDirectory()
        name = try #require(ObjectName("segments/a.age"))
    }

    private var store: DirectoryStore { DirectoryStore(path: place.path.string) }

    @Test("a missing directory is no empty store")
    func missing() throws {
        let store = DirectoryStore(path: place.path.appending("missing").string)
        expect(.noSuchBucket) { try store.put(name, [1]) }
        expect(.noSuchBucket) { try store.get(name) }
        expect(.noSuchBucket) { try store.length(of: name) }
        expect(.noSuchBucket) { try store.list("") { _ in } }
        expect(.noSuchBucket) { try store.delete(name) }
    }

    @Test("no link leads out of the directory")
    func links() throws {
        let outside = try TemporaryDirectory()
        try outside.write("a.age", "outside")
        try FileManager.default.createSymbolicLink(
            atPath: place.path.appending("segments").string, withDestinationPath: outside.path.string)
        #expect(try store.length(of: name) == nil)
        expect(.noSuchObject) { try store.get(name) }
        expect(.failed) { try store.put(try #require(ObjectName("segments/b.age")), [1]) }
        try store.delete(name)
        #expect(try StoreContract.names(store, "") == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path.string) == ["a.age"])
    }

    @Test("files that are no objects are neither listed nor replaced, and those of a killed process are removed")
    func foreignFiles() throws {
        try place.write(".hidden", "x")
        try place.write("with space", "x")
        try place.write("segments/.archiver-1.tmp", "x")
        let left = String(decoding: TemporaryFile.newName().bytes, as: UTF8.self)
        try place.write("segments/\(left)", "x")
        let store = store
        #expect(try StoreContract.names(store, "") == [])
        #expect(try store.put(name, [1]) == .created)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path.appending("segments").string)
        #expect(names.sorted() == [".archiver-1.tmp", "a.age"])
    }

    @Test("what root writes belongs to the owner of the directory", .enabled(if: getuid() == 0))
    func owner() throws {
        let nobody: UInt32 = 65_534
        #expect(chown(place.path.string, nobody, nobody) == 0)
        #expect(try store.put(name, [1]) == .created)
        for path in ["segments", "segments/a.age"] {
            var status = stat()
            #expect(lstat(place.path.appending(path).string, &status) == 0)
            #expect(status.st_uid == nobody && status.st_gid == nobody, "\(path)")
        }
    }

    @Test("a source that fails leaves nothing")
    func failingSource() throws {
        struct Short: ObjectSource {
            let length: UInt64 = 3 << 20
            func read(_ range: Range<UInt64>) -> [UInt8] { [] }
        }
        expect(.failed) { try store.put(name, from: Short()) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path.appending("segments").string) == [])
    }
}
