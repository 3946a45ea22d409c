// Retention commands by several concurrent processes, sometimes killed or stopped, compared with a naive model.

import Foundation
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

/// The environment variable KEEPING_STEPS sets the number of steps.
@Suite("Retention commands, against a model", .timeLimit(.minutes(90)), .blocking)
struct KeepingModelTests {
    private static let steps = getenv("KEEPING_STEPS").flatMap { Int(String(cString: $0)) } ?? (isThorough ? 40 : 8)

    /// The command of one process.
    private enum Action {
        case capture(Int, FilePath)
        case forget([String])
        case unforget(String)
        case pin(String)
        case unpin(String)
        case label(String, String)
        case unlabel(String)
        case thin(Int)
        case prune(isNow: Bool)

        /// The pin or label that the command sets; nil for other commands.
        var mark: KeepingModel.Mark? {
            switch self {
            case .pin: .pinned(true)
            case .unpin: .pinned(false)
            case .label(_, let label): .label(label)
            case .unlabel: .label(nil)
            default: nil
            }
        }

        /// The snapshot that the command concerns; nil if there is none or more than one.
        var target: String? {
            switch self {
            case .pin(let id), .unpin(let id), .label(let id, _), .unlabel(let id): id
            default: nil
            }
        }
    }

    @Test("when several processes act concurrently, every kept snapshot restores after every step", arguments: 0..<2)
    func model(_ run: Int) throws {
        var random = SeededGenerator("model of keeping \(run)")
        let model = try KeepingModel(segmentBytes: 10_000 + random.below(60_000), &random)
        for step in 0..<KeepingModelTests.steps {
            let comment = "seed \(random.seed), step \(step)"
            switch random.below(10) {
            case 0:
                model.removeCatalogue()
                try model.check(KeepingModel.Effects(), "\(comment), a new catalogue")
            case 1: try purge(model, &random, comment)
            default: try act(model, &random, comment)
            }
            if step % 6 == 5 { try model.expectWhole(comment) }
        }
        model.removeCatalogue()
        try model.check(KeepingModel.Effects(), "seed \(random.seed), in the end")
        try model.expectWhole("seed \(random.seed), in the end")
    }

    // MARK: Concurrent processes

    private func act(_ model: KeepingModel, _ random: inout SeededGenerator, _ comment: String) throws {
        var actions: [Action] = []
        for _ in 0...random.below(4) {
            guard let action = try draw(model, actions, &random) else { continue }
            actions.append(action)
        }
        let running = try actions.map { try model.place.start(arguments($0, model)) }
        if random.oneIn(2), !running.isEmpty {
            let unlucky = running[random.below(running.count)]
            spin(microseconds: random.below(25_000))
            if random.oneIn(2) {
                unlucky.send(SIGKILL)
            } else {
                // The other processes continue and meet its locks.
                unlucky.send(SIGSTOP)
                spin(microseconds: random.below(60_000))
                unlucky.send(SIGCONT)
            }
        }
        let outcomes = try running.map { try $0.finish() }
        var effects = KeepingModel.Effects()
        for (action, outcome) in zip(actions, outcomes) {
            add(action, beside: actions, outcome, model, to: &effects)
            let isRefusable = isRefusable(action, beside: actions, model)
            #expect(
                outcome.status == 0 || outcome.status == -SIGKILL || isRefusable,
                "\(comment): \(action) beside \(actions): \(outcome.status) \(outcome.errorText)")
            if case .capture = action, let id = try Workplace.announced(outcome) { effects.announced.insert(id) }
        }
        try model.check(effects, "\(comment): \(actions)")
    }

    private func spin(microseconds: Int) {
        let end = ContinuousClock.now + .microseconds(microseconds)
        while ContinuousClock.now < end { sched_yield() }
    }

    /// Draws a command that is possible together with `others`.
    private func draw(
        _ model: KeepingModel, _ others: [Action], _ random: inout SeededGenerator
    ) throws -> Action? {
        let listed = model.listed
        let some = listed[random.below(listed.count)]
        let root = random.below(KeepingModel.roots)
        switch random.below(14) {
        case 0...4:
            for case .capture(root, _) in others { return nil }
            try model.edit(root, &random)
            return .capture(root, try model.copyTree(root))
        case 5, 6:
            // If one is pinned, the command is refused, and nothing is forgotten.
            let mayBePinned = random.oneIn(6)
            let ids = listed.filter { kept in
                kept.id != model.newest(of: kept.root) && (mayBePinned || !kept.isPinned) && random.oneIn(3)
            }.map(\.id)
            return ids.isEmpty ? nil : .forget(ids)
        case 7:
            let forgotten = model.kept.filter(\.isForgotten)
            return forgotten.isEmpty ? nil : .unforget(forgotten[random.below(forgotten.count)].id)
        case 8: return some.isPinned ? .unpin(some.id) : .pin(some.id)
        case 9: return some.label == nil ? .label(some.id, "label-\(random.below(1_000_000))") : .unlabel(some.id)
        case 10:
            for case .thin in others { return nil }
            return .thin(root)
        default: return .prune(isNow: random.oneIn(2))
        }
    }

    private func arguments(_ action: Action, _ model: KeepingModel) -> [String] {
        func about(_ id: String, _ words: [String]) -> [String] {
            guard let kept = model.kept.first(where: { $0.id == id }) else { return words }
            return words + ["--root", model.tree(kept.root).string]
        }
        switch action {
        case .capture(let root, _): return ["capture", model.tree(root).string, "--json"]
        case .forget(let ids): return ["forget"] + ids
        case .unforget(let id): return ["unforget", id]
        case .pin(let id): return about(id, ["pin", id])
        case .unpin(let id): return about(id, ["unpin", id])
        case .label(let id, let label): return about(id, ["label", id, label])
        case .unlabel(let id): return about(id, ["label", id, "--remove"])
        case .thin(let root):
            return ["keep", "--each", "1s", "--weekly", "forever", "--now", "--root", model.tree(root).string]
        case .prune(let isNow): return ["prune"] + (isNow ? ["--now"] : [])
        }
    }

    /// Whether another command of the step may cause a refusal.
    private func isRefusable(_ action: Action, beside actions: [Action], _ model: KeepingModel) -> Bool {
        var (isForgetting, unforgets, prunes) = (false, 0, 0)
        for other in actions {
            switch other {
            case .forget, .thin: isForgetting = true
            case .unforget: unforgets += 1
            case .prune:
                isForgetting = isForgetting || !model.thinned.isEmpty
                prunes += 1
            default: break
            }
        }
        switch action {
        case .capture, .thin: return false
        case .prune: return prunes > 1 || unforgets > 0
        // It is refused while a prune runs.
        case .unforget(let id):
            return prunes > 0 || unforgets > 1 || model.kept.contains { $0.id == id && $0.mayBeGone }
        case .forget(let ids):
            let forgets = actions.count { if case .forget = $0 { true } else { false } }
            let isPinned = model.kept.contains { $0.isPinned && ids.contains($0.id) }
            let isMarked = actions.contains { $0.target.map(ids.contains) ?? false }
            return forgets > 1 || isThinning(actions, model) || isPinned || isMarked
        case .pin, .unpin, .label, .unlabel:
            return isForgetting || actions.count { $0.target == action.target } > 1
        }
    }

    private func isThinning(_ actions: [Action], _ model: KeepingModel) -> Bool {
        actions.contains { action in
            switch action {
            case .thin: true
            case .prune: !model.thinned.isEmpty
            default: false
            }
        }
    }

    /// Adds the certain or possible effects of `action`.
    private func add(
        _ action: Action, beside actions: [Action], _ outcome: ChildProcess.Outcome, _ model: KeepingModel,
        to effects: inout KeepingModel.Effects
    ) {
        let isDone = outcome.status == 0
        switch action {
        case .capture(let root, let copy): effects.captured[root] = copy
        case .forget(let ids):
            let isCertain = isDone && !actions.contains { if case .unforget = $0 { true } else { false } }
            let isRefused = outcome.status > 0
            if isCertain { effects.vanish.formUnion(ids) } else if !isRefused { effects.mayVanish.formUnion(ids) }
        case .unforget(let id):
            let isUndone = isThinning(actions, model)
            if isDone, !isUndone { effects.returned.insert(id) } else { effects.mayReturn.insert(id) }
            if isDone, isUndone { effects.mayVanish.insert(id) }
        case .pin(let id), .unpin(let id), .label(let id, _), .unlabel(let id):
            if isDone, actions.count(where: { $0.target == id }) == 1 { return model.expect(id, action.mark) }
            effects.unsure.insert(id)
        case .thin(let root):
            model.thinned.insert(root)
            effects.mayVanish.formUnion(thinnable(in: [root], beside: actions, model))
        case .prune(let isNow):
            // It also applies the policies.
            effects.mayVanish.formUnion(thinnable(in: model.thinned, beside: actions, model))
            effects.gaveSpaceBack = effects.gaveSpaceBack || isNow
        }
    }

    /// The snapshots that the policy of `roots` may forget.
    private func thinnable(in roots: Set<Int>, beside actions: [Action], _ model: KeepingModel) -> Set<String> {
        var found: Set<String> = []
        for root in roots {
            let isCaptured = actions.contains { if case .capture(root, _) = $0 { true } else { false } }
            for kept in model.kept where kept.root == root {
                // A pin or label that changes at the same time may or may not protect.
                let isMarked = kept.isPinned || kept.label != nil
                if isMarked, !actions.contains(where: { $0.target == kept.id }) { continue }
                if kept.id != model.newest(of: root) || isCaptured { found.insert(kept.id) }
            }
        }
        return found
    }

    // MARK: Purging

    /// Purges a file, in several attempts if the command is killed.
    private func purge(_ model: KeepingModel, _ random: inout SeededGenerator, _ comment: String) throws {
        let root = random.below(KeepingModel.roots)
        guard let path = model.someFile(of: root, &random) else { return }
        let comment = "\(comment): purge \(path) of \(root)"
        let arguments = ["purge", model.tree(root).appending(path).string, "--yes", "--root", model.tree(root).string]
        let marks = model.marks(of: path, in: root)
        // Otherwise the next capture stores it again.
        unlink(model.tree(root).appending(path).string)
        var isKilled = false
        while random.oneIn(2) {
            let process = try model.place.start(arguments)
            spin(microseconds: random.below(120_000))
            process.send(SIGKILL)
            isKilled = true
            _ = try process.finish()
        }
        let outcome = try model.place.run(arguments)
        // A command killed at its very end has nothing left to do.
        let isDone = outcome.status == 0 || isKilled && outcome.errorText.contains("no snapshot has")
        #expect(isDone, "\(comment): \(outcome.status) \(outcome.text)\(outcome.errorText)")
        try model.purge(path, of: root, comment)
        model.expectGone(marks)
        try model.check(KeepingModel.Effects(), comment)
    }
}
