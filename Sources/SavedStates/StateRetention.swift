// Which of a program's states to keep; the others are forgotten as new ones are saved.

internal import ArchiveFormat
internal import ArchiveStorage
internal import Archives
internal import FileIO
public import Keeping
internal import Roots
internal import SystemPackage

/// Which states a ``Caretaker`` keeps.
///
/// The newest state and pinned or labelled states always stay. A forgotten state can be unforgotten until its bytes are
/// reclaimed.
public enum StateRetention: Sendable, Hashable {
    /// All states.
    case everything
    /// This many of the newest states, at least one; up to a tenth more may stay until the next batch is forgotten.
    case latest(Int)
    /// The states that the tiers keep; applied by the first save of each hour.
    case tiers(RetentionPolicy)
}

extension Archive {
    /// Forgets the states of a title that `retention` does not keep.
    ///
    /// - Parameters:
    ///   - former: when the state before the new one was saved; nil if there was none.
    ///   - saved: when the new one was saved.
    func forgetStates(of title: String, keeping retention: StateRetention, after former: Timestamp?, saved: Timestamp)
        throws
    {
        var going: [ListedState] = []
        switch retention {
        case .everything: return
        case .latest(let count):
            let count = max(1, count)
            guard try store.catalogue.count(.init(of: title)) > count + count / 10 else { return }
            going = try store.catalogue.states(.init(of: title, newestFirst: true, offset: count))
        case .tiers(let policy):
            if let former, former.seconds / 3600 == saved.seconds / 3600 { return }
            going = try states(of: title, exceeding: policy, at: saved)
        }
        let pinned = Set(try pins().map(\.target))
        let ids = going.filter { $0.label == nil && !pinned.contains($0.id.chunk) }.map(\.id.chunk)
        if ids.isEmpty { return }
        try whileKeeping {
            try requireUnpinned(ids) { "state \($0.hex.prefix(8))" }
            try store.forget(Set(ids))
        }
    }

    private func states(
        of title: String, exceeding policy: RetentionPolicy, at time: Timestamp
    ) throws -> [ListedState] {
        let states = try store.catalogue.states(.init(of: title))
        let rows = states.enumerated().map { index, state in
            // Not the state's own sequence: two can be equal.
            ThinningRow(
                id: SnapshotID(state.id.chunk), sequence: UInt64(index), time: state.time, hasLabel: state.label != nil)
        }
        let nowhere = ArchivedRoot(path: "/", host: "")
        let plan = ThinningPlan(nowhere, policy, rows, ThinningPlan.Circumstances(now: time))
        let going = Set(plan.going.map(\.id.chunk))
        return states.filter { going.contains($0.id.chunk) }
    }
}
