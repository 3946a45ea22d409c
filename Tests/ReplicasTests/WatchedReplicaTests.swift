// A watch service that replicates by itself.

import ArchiveFormat
import ArchiveStorage
import Archives
import Capturing
import Mementos
import ObjectStore
import Replicas
import Roots
import TestSupport
import TestTraits
import Testing
import Threading
import Watching

@Suite("Replicating while watching", .blocking, .timeLimit(.minutes(60)))
struct WatchedReplicaTests {
    /// Runs a service until `body` ends; `body` gets the stream of its events about replicas.
    private func watching(
        _ scene: ReplicaScene,
        _ body: @Sendable (WatchService, inout AsyncStream<WatchService.Event>.Iterator) async throws -> Void
    ) async throws {
        var options = WatchService.Options(maintenance: nil)
        options.timeScale = 20
        options.replicaStores = scene.stores
        let service = WatchService(scene.archive, roots: [scene.root], options)
        var events = service.events.events().makeAsyncIterator()
        async let end: Void = service.run()
        try await body(service, &events)
        service.stop()
        try await end
    }

    /// Waits until the replica has everything that was captured.
    private func completion(_ scene: ReplicaScene) async throws {
        while try scene.status.missingBytes > 0 { await Task.yield() }
    }

    @Test("a watcher sends by itself, and once more at its end")
    func byItself() async throws {
        let scene = try ReplicaScene()
        try scene.base.write("root/a", "one")
        try await watching(scene) { service, _ in
            try await service.settle()
            try await completion(scene)
            #expect(try scene.clone().archive.snapshots().count == 1)
            try scene.base.write("root/a", "two")
            try await service.settle()
        }
        #expect(try scene.status.missingBytes == 0)
        #expect(try scene.clone().archive.snapshots().count == 2)
    }

    @Test("captures go on while the store fails, which is said once, and the backlog is sent when it answers")
    func failing() async throws {
        let scene = try ReplicaScene()
        scene.objects.arrange { _ in .fails(.unreachable) }
        try scene.base.write("root/a", "one")
        try await watching(scene) { service, events in
            var failures = 0
            var snapshots = 0
            while failures == 0 || snapshots == 0 {
                let event = try #require(await events.next(isolation: #isolation))
                if case .replicaFailed(name: "test", let error) = event {
                    #expect(error.code == .replica)
                    failures += 1
                }
                if case .watching = event { snapshots += 1 }
            }
            for number in 0..<3 {
                try scene.base.write("root/a", "later \(number)")
                try await service.settle()
            }
            scene.objects.arrange(nil)
            while true {
                let event = try #require(await events.next(isolation: #isolation))
                if case .replicaFailed = event { failures += 1 }
                if case .replicaComplete(name: "test") = event { break }
            }
            #expect(failures == 1, "it is said once")
            try await completion(scene)
        }
        #expect(try scene.clone().archive.snapshots().count == 4)
    }

    @Test("a store that never answers keeps no capture waiting, nor the end of the service")
    func hanging() async throws {
        let objects = MemoryStore()
        let scene = try ReplicaScene(objects: objects)
        try scene.base.write("root/a", "one")
        var options = WatchService.Options(maintenance: nil)
        options.timeScale = 20
        // Closing it must wake the call.
        options.replicaStores = ReplicaStores { (_) throws(ObjectStoreError) in objects }
        objects.arrange { _ in .hangs }
        let service = WatchService(scene.archive, roots: [scene.root], options)
        async let end: Void = service.run()
        try await service.settle()
        try scene.base.write("root/a", "two")
        try await service.settle()
        #expect(try scene.archive.snapshots().count == 2)
        service.stop()
        try await end
    }
}
