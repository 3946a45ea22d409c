// Faults at every call to the store: nothing announced is lost, nothing is overwritten, and the backlog drains.

import ArchiveFormat
import ArchiveStorage
import Archives
import ObjectStore
import Replicas
import Roots
import TestSupport
import TestTraits
import Testing

@Suite("A store that fails", .blocking)
struct SendingFaultTests {
    /// What happens in every run.
    ///
    /// - Returns: the snapshots whose replication was announced, and the store's objects at each moment.
    private func run(
        _ scene: ReplicaScene, tries: Int = 4
    ) throws -> (announced: Set<SnapshotID>, moments: [[ObjectName: [UInt8]]]) {
        var announced: Set<SnapshotID> = []
        var moments: [[ObjectName: [UInt8]]] = []
        for number in 0..<6 {
            try scene.capture(number, bytes: number == 3 ? 5_000 : 700)
            for attempt in 0..<tries {
                do {
                    try scene.send(comparing: number == 4)
                    announced = Set(try scene.archive.snapshots().map(\.id))
                    moments.append(scene.objects.objects)
                    break
                } catch {
                    #expect(attempt + 1 < tries, "the backlog does not drain: \(error)")
                }
            }
        }
        return (announced, moments)
    }

    @Test("if any call fails, loses its answer, is cut or repeated, nothing announced is lost or overwritten")
    func everyCall() throws {
        let model = try ReplicaScene(segmentBytes: 4_000)
        let start = model.objects.calls.count
        _ = try run(model)
        let count = model.objects.calls.count - start
        #expect(count > 15)
        let faults: [MemoryStore.Fault] = [.fails(.unreachable), .answerLost, .isCut, .repeated]
        let step = isThorough ? 1 : 2
        for (index, fault) in faults.enumerated() {
            for number in stride(from: isThorough ? 0 : index % 2, to: count, by: step) {
                let scene = try ReplicaScene(segmentBytes: 4_000)
                scene.objects.arrange(fault, atCall: scene.objects.calls.count + number)
                let (announced, moments) = try run(scene)
                for (earlier, later) in zip(moments, moments.dropFirst()) {
                    for (name, bytes) in earlier {
                        let now = later[name]
                        #expect(now == nil || now == bytes, "\(name) was overwritten: \(fault) at call \(number)")
                    }
                }
                let result = try scene.clone()
                #expect(result.problems == [], "\(fault) at call \(number)")
                try scene.expect(result.archive, has: announced)
                #expect(try scene.status.missingBytes == 0)
            }
        }
    }

    @Test("a machine that dies between any two calls leaves everything announced to a clone")
    func everyEnd() throws {
        let model = try ReplicaScene(segmentBytes: 4_000)
        let start = model.objects.calls.count
        _ = try run(model)
        let count = model.objects.calls.count - start
        for number in stride(from: 0, to: count, by: isThorough ? 1 : 3) {
            let scene = try ReplicaScene(segmentBytes: 4_000)
            let first = scene.objects.calls.count + number
            scene.objects.arrange { _ in nil }
            var announced: Set<SnapshotID> = []
            let objects = scene.objects
            scene.objects.arrange { _ in objects.calls.count > first ? .fails(.unreachable) : nil }
            for step in 0..<6 {
                try scene.capture(step, bytes: step == 3 ? 5_000 : 700)
                guard (try? scene.send(comparing: step == 4)) != nil else { break }
                announced = Set(try scene.archive.snapshots().map(\.id))
            }
            scene.objects.arrange(nil)
            if announced.isEmpty { continue }
            try scene.expect(scene.clone().archive, has: announced)
        }
    }

    @Test("a failure is remembered with its time and reason until the next success, and captures go on")
    func remembered() throws {
        let scene = try ReplicaScene()
        scene.objects.arrange { _ in .fails(.full) }
        try scene.capture(0)
        let error = try failure { try scene.send() }
        #expect(error?.code == .replica && error?.remedy != nil)
        try scene.capture(1)
        _ = try? scene.send()
        scene.objects.arrange(nil)
        try scene.send()
        #expect(try scene.status.failure == nil && scene.status.findings.isEmpty)
        scene.objects.arrange { if case .put = $0 { .fails(.full) } else { nil } }
        try scene.capture(2)
        _ = try? scene.send()
        let status = try scene.status
        #expect(status.failure?.message.contains("full") == true)
        #expect(status.missingBytes > 0 && status.findings.count == 1)
        scene.objects.arrange(nil)
        try scene.send()
        #expect(try scene.status.failure == nil)
    }

    @Test(
        "whatever a store refuses, captures go on, it is said with its remedy, and everything is sent when it answers",
        arguments: [
            .noSuchBucket, .notAllowed, .wrongCredentials, .noCredentials, .wrongClock, .wrongRegion, .full,
            .unreachable, .tlsFailed, .busy, .unexpectedAnswer,
        ] as [ObjectStoreError.Code])
    func refusals(code: ObjectStoreError.Code) throws {
        let scene = try ReplicaScene()
        var made = [try scene.capture(0)]
        try scene.send()
        let before = scene.objects.objects
        scene.objects.arrange { _ in .fails(code) }
        made.append(try scene.capture(1))
        let error = try #require(try failure { try scene.send() })
        #expect(error.code == .replica && error.remedy == ObjectStoreError(code, "").remedy && error.remedy != nil)
        #expect(try scene.status.failure?.message == error.message)
        #expect(try scene.status.findings.count == 1)
        #expect(scene.objects.objects == before, "nothing is overwritten")
        made.append(try scene.capture(2))
        scene.objects.arrange(nil)
        try scene.send()
        #expect(try scene.status.failure == nil && scene.status.missingBytes == 0)
        try scene.expect(scene.clone().archive, has: made)
    }
}
