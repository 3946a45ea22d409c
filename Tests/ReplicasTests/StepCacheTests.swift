// What is kept of a replica's segments.

import Foundation
import Testing

@testable import Replicas

@Suite("Steps of a replica that are kept")
struct StepCacheTests {
    @Test("no more bytes are kept than there is room for, and those that were used last")
    func capacity() {
        let cache = StepCache(capacityBytes: 1600)
        cache.keep(Data(repeating: 0, count: 100), 0, of: "a")
        for number in 1..<400 {
            cache.keep(Data(repeating: UInt8(number % 256), count: 100), number, of: "a")
            #expect(cache.step(number, of: "a") == Data(repeating: UInt8(number % 256), count: 100))
            // Asking is using: this keeps their order.
            let kept = (0...number).filter { cache.step($0, of: "a") != nil }
            #expect(kept.count <= 16 && kept.first == 0, "\(kept)")
            #expect(kept.dropFirst().elementsEqual((number + 2 - kept.count)...number), "\(kept)")
            // The first one is used again and again.
            #expect(cache.step(0, of: "a")?.count == 100, "after \(number)")
        }
        #expect(cache.step(399, of: "b") == nil)
    }

    @Test("a step that is kept again counts once")
    func again() {
        let cache = StepCache(capacityBytes: 250)
        for _ in 0..<10 { cache.keep(Data(repeating: 1, count: 100), 1, of: "a") }
        cache.keep(Data(repeating: 2, count: 100), 2, of: "a")
        #expect(cache.step(1, of: "a") != nil && cache.step(2, of: "a")?.first == 2)
    }
}
