// How many requests reading a replica's segments takes.

import ArchiveFormat
import ArchiveStorage
import Archives
import Dispatch
import FileIO
import Foundation
import ObjectStore
import Replicas
import Roots
import TestSupport
import TestTraits
import Testing
import Threading

@Suite("Reading a replica's segments", .blocking)
struct SegmentReadingTests {
    private static let step = 64 << 10

    /// A replica with a segment of some sixty steps, or of more, and that segment.
    private func segment(
        bytes: Int = 4_000_000
    ) throws -> (scene: ReplicaScene, content: [UInt8], opened: any SegmentReading) {
        let scene = try scene(segmentBytes: bytes)
        let source = try ReplicaSegments(scene.reader())
        let (name, content) = try largest(of: scene, source)
        return (scene, content, try source.open(name))
    }

    private func scene(segmentBytes: Int = 4_000_000) throws -> ReplicaScene {
        let scene = try ReplicaScene(segmentBytes: segmentBytes)
        try scene.capture(0, bytes: segmentBytes + 2_500_000)
        try scene.capture(1)
        try scene.send()
        return scene
    }

    private func largest(of scene: ReplicaScene, _ source: ReplicaSegments) throws -> (name: String, content: [UInt8]) {
        let contents = try source.list().segments.map { name in
            (name, try Data(contentsOf: scene.base.url.appending(path: "archive/segments/\(name)")))
        }
        let largest = try #require(contents.max { $0.1.count < $1.1.count })
        return (largest.0, Array(largest.1))
    }

    @Test("opening a segment with its header takes one request, and a block far away another, unless it is large")
    func blocks() throws {
        let scene = try scene()
        let source = try ReplicaSegments(scene.reader())
        let (name, _) = try largest(of: scene, source)
        let row = try #require(try scene.archive.store.catalogue.segments().first { $0.path == name })
        let blocks = try #require(try scene.archive.store.open(row).index())
        let usual = blocks.filter {
            $0.header.blockLength <= 3 * SegmentReadingTests.step && $0.offset > 24 * SegmentReadingTests.step
        }
        let far = try #require(usual.first, "\(blocks.map(\.header.blockLength))")
        var opened: Segment?
        let opening = try fetched(scene) {
            let segment = try Segment(source.open(name))
            _ = try segment.readHeader()
            opened = segment
        }
        #expect(opening.count == 1, "\(opening)")
        let segment = try #require(opened)
        let ranges = try fetched(scene) { _ = try segment.block(at: far.offset) }
        #expect(ranges.count == 1, "\(ranges)")
    }

    private func read(_ number: Int, of opened: any SegmentReading, equals content: [UInt8]) throws -> Bool {
        let place = number * SegmentReadingTests.step
        let expected = content[place..<min(content.count, place + SegmentReadingTests.step)]
        var bytes = [UInt8](repeating: 0, count: expected.count)
        let count = try bytes.withUnsafeMutableBytes { try opened.read(into: $0, at: place) }
        return count == expected.count && bytes.elementsEqual(expected)
    }

    /// The ranges that `body` fetches.
    private func fetched(_ scene: ReplicaScene, _ body: () throws -> Void) rethrows -> [Range<UInt64>] {
        let before = scene.objects.calls.count
        try body()
        return scene.objects.calls.dropFirst(before).compactMap { call in
            if case .get(_, let range) = call { range } else { nil }
        }
    }

    @Test("of a segment whose length is known, the header comes at the same time as a block")
    func known() throws {
        let scene = try scene()
        let source = try ReplicaSegments(scene.reader())
        let (name, content) = try largest(of: scene, source)
        source.expect([name: content.count])
        let together = Meeting(of: 2)
        scene.objects.arrange { call in
            if case .get = call { together.attend() }
            return nil
        }
        let ranges = try fetched(scene) {
            let opened = try source.open(name)
            let isRight = try read(40, of: opened, equals: content)
            #expect(isRight)
            let isFirstRight = try read(0, of: opened, equals: content)
            #expect(isFirstRight)
        }
        #expect(together.isComplete)
        #expect(ranges.count == 2, "\(ranges)")
    }

    @Test("a block that was asked for with the header, and did not come, is asked for again")
    func knownAndFailed() throws {
        let scene = try scene()
        let source = try ReplicaSegments(scene.reader())
        let (name, content) = try largest(of: scene, source)
        source.expect([name: content.count])
        let opened = try source.open(name)
        let isFirst = Locked(true)
        scene.objects.arrange { call in
            guard case .get(_, let range?) = call, range.lowerBound > 0 else { return nil }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .fails(.unreachable) : nil
            }
        }
        #expect(throws: StorageError.self) { try read(40, of: opened, equals: content) }
        let isRight = try read(40, of: opened, equals: content)
        #expect(isRight)
    }

    @Test("a segment that has another length than the catalogue says is damaged")
    func otherLength() throws {
        let scene = try scene()
        let source = try ReplicaSegments(scene.reader())
        let (name, content) = try largest(of: scene, source)
        source.expect([name: content.count - 1])
        let opened = try source.open(name)
        #expect(throws: StorageError.self) { try read(40, of: opened, equals: content) }
    }

    @Test("a length that no segment can have is not expected")
    func impossibleLength() throws {
        let scene = try scene()
        let source = try ReplicaSegments(scene.reader())
        let (name, content) = try largest(of: scene, source)
        for length in [-1, .min, .max] { source.expect([name: length]) }
        let opened = try source.open(name)
        let isRight = try read(40, of: opened, equals: content)
        #expect(isRight)
    }

    @Test("an object is read as a whole by several requests at the same time, in order")
    func whole() throws {
        let scene = try scene(segmentBytes: 18_000_000)
        let reader = try scene.reader()
        let source = try ReplicaSegments(reader)
        let (name, content) = try largest(of: scene, source)
        let length = try #require(source.inventory.segments[name])
        func read() throws -> [UInt8] {
            var bytes: [UInt8] = []
            let object = try reader.open(.segment(path: name), length: length, readsAll: true)
            try object.readAll(requests: 4) { piece, offset in
                #expect(offset == bytes.count)
                bytes += piece
            }
            return bytes
        }
        let together = Meeting(of: 3)
        scene.objects.arrange { call in
            if case .get(_, let range?) = call, range.lowerBound > 0 { together.attend() }
            return nil
        }
        #expect(try read() == content)
        #expect(together.isComplete)
        let object = try #require(ReplicaObject.segment(path: name).name)
        scene.objects.objects[object]?[Int(length) - 100] ^= 1
        #expect(throws: ArchiverError.self) { try read() }
    }

    @Test("threads that share a segment read it by few requests, and fetch no byte twice")
    func shared() throws {
        let (scene, content, opened) = try segment()
        let steps = (content.count + SegmentReadingTests.step - 1) / SegmentReadingTests.step
        #expect(steps > 50)
        // Each goes on before the one before it has.
        let order = (0..<steps).map { $0 ^ 3 }.filter { $0 < steps }
        let ranges = try fetched(scene) {
            for number in order {
                let isRight = try read(number, of: opened, equals: content)
                #expect(isRight)
            }
        }
        #expect(ranges.count <= 16, "\(ranges.count) requests for \(steps) steps")
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }, "\(sorted)")
    }

    @Test("a single read far away fetches little")
    func far() throws {
        let (scene, content, opened) = try segment()
        let steps = content.count / SegmentReadingTests.step
        let far = try fetched(scene) {
            let isRight = try read(steps / 2, of: opened, equals: content)
            #expect(isRight)
        }
        #expect(far.count == 1 && far[0].count <= 7 * (SegmentReadingTests.step + 64), "\(far)")
    }

    @Test("readers at the same time get the right bytes, and few bytes are fetched twice")
    func together() throws {
        let (scene, content, opened) = try segment(bytes: 16_000_000)
        let steps = content.count / SegmentReadingTests.step
        let wrong = Locked(0)
        let ranges = fetched(scene) {
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for number in stride(from: thread, to: steps, by: 4) {
                    let isRight = (try? read(number, of: opened, equals: content)) ?? false
                    if !isRight { wrong.withLock { $0 += 1 } }
                }
            }
        }
        #expect(wrong.withLock(\.self) == 0)
        let bytes = ranges.reduce(0) { $0 + $1.count }
        #expect(bytes < content.count + content.count / 8, "\(bytes) of \(content.count)")
    }

    @Test("of a damaged object, everything is read but the step that is damaged", arguments: [2, 7, 30, 59])
    func damaged(_ step: Int) throws {
        let (scene, content, opened) = try segment()
        let steps = content.count / SegmentReadingTests.step
        let object = try #require(scene.objects.objects.max { $0.value.count < $1.value.count })
        var bytes = object.value
        // The encrypted steps are at its end, each with a tag of 16 bytes.
        let tags = (content.count + SegmentReadingTests.step - 1) / SegmentReadingTests.step * 16
        bytes[bytes.count - tags - content.count + step * (SegmentReadingTests.step + 16) + 100] ^= 1
        scene.objects.objects[object.key] = bytes
        for order in [Array(0..<steps), (0..<steps).reversed()] {
            let unread = order.filter { (try? read($0, of: opened, equals: content)) != true }
            #expect(unread == [step])
        }
    }

    @Test("while a reader works on what it has, three requests at the same time bring what comes next")
    func ahead() throws {
        let (scene, content, opened) = try segment(bytes: 16_000_000)
        let together = Meeting(of: 3)
        let needed = Locked(0)
        scene.objects.arrange { call in
            if case .get(_, let range?) = call, range.lowerBound > needed.withLock(\.self) { together.attend() }
            return nil
        }
        for number in 0..<24 {
            needed.withLock { $0 = (number + 1) * SegmentReadingTests.step }
            let isRight = try read(number, of: opened, equals: content)
            #expect(isRight)
        }
        #expect(together.isComplete)
    }

    @Test("if what is fetched ahead fails, the reader fetches it when it needs it", arguments: [1, 2, 3, 5])
    func failedAhead(_ failures: Int) throws {
        let (scene, content, opened) = try segment(bytes: 16_000_000)
        let needed = Locked(0)
        let left = Locked(failures)
        scene.objects.arrange { call in
            guard case .get(_, let range?) = call, range.lowerBound > needed.withLock(\.self) else { return nil }
            return left.withLock { left in
                left -= 1
                return left >= 0 ? .fails(.unreachable) : nil
            }
        }
        for number in 0..<content.count / SegmentReadingTests.step {
            needed.withLock { $0 = (number + 1) * SegmentReadingTests.step }
            let isRight = try read(number, of: opened, equals: content)
            #expect(isRight)
        }
        #expect(left.withLock(\.self) <= 0)
    }
}
