// Parts of a replica's segments that were read last: a bounded number of bytes for all segments together.

internal import FoundationEssentials
internal import Threading

/// The steps that were read last, by their segments and numbers.
final class StepCache: Sendable {
    private struct Place: Hashable {
        let segment: String
        let number: Int
    }

    private struct State {
        var steps: [Place: (bytes: Data, used: UInt64)] = [:]
        var uses: UInt64 = 0
        var bytes = 0
    }

    private let capacityBytes: Int
    private let state = Locked(State())

    init(capacityBytes: Int) { self.capacityBytes = capacityBytes }

    /// The bytes of a step; nil if it is not kept.
    func step(_ number: Int, of segment: String) -> Data? {
        state.withLock { state in
            let place = Place(segment: segment, number: number)
            guard let found = state.steps[place]?.bytes else { return nil }
            state.uses += 1
            state.steps[place]?.used = state.uses
            return found
        }
    }

    /// Keeps a step, in place of those that were not used for the longest time.
    func keep(_ bytes: Data, _ number: Int, of segment: String) {
        state.withLock { state in
            state.uses += 1
            if let old = state.steps.updateValue((bytes, state.uses), forKey: Place(segment: segment, number: number)) {
                state.bytes -= old.bytes.count
            }
            state.bytes += bytes.count
            guard state.bytes > capacityBytes else { return }
            // Several at once: each time, all are looked at.
            for (place, step) in state.steps.sorted(by: { $0.value.used < $1.value.used }) {
                if state.bytes <= capacityBytes - capacityBytes / 8 { return }
                state.bytes -= step.bytes.count
                state.steps[place] = nil
            }
        }
    }
}
