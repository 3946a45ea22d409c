// Delivery on the main actor, from any thread.

import Dispatch
import Mementos
import Testing
import Threading

private struct Game: Sendable, Equatable {
    var level = 1
    var score = 0
}

/// A stand-in for a user interface element, isolated to the main actor.
@MainActor private final class Label {
    private(set) var texts: [String] = []
    private var awaited: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func show(_ text: String) {
        texts.append(text)
        guard let awaited, texts.count >= awaited.count else { return }
        self.awaited = nil
        awaited.continuation.resume()
    }

    /// Waits until `count` texts have been shown.
    func shown(_ count: Int) async {
        guard texts.count < count else { return }
        await withCheckedContinuation { awaited = (count, $0) }
    }
}

/// Runs `body` on a thread other than the main thread, and waits for it.
private func elsewhere(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "elsewhere").async {
            body()
            continuation.resume()
        }
    }
}

@Suite("Delivery on the main actor") @MainActor
struct MainActorTests {
    @Test("a handler on the main actor gets what other threads send, in order")
    func order() async {
        let subject = Subject<Int>()
        let label = Label()
        let subscription = subject.subscribe(on: MainActor.shared) { label.show("\($0)") }
        await elsewhere { for number in 0..<1000 { subject.send(number) } }
        await label.shown(1000)
        #expect(label.texts == (0..<1000).map { "\($0)" })
        subscription.cancel()
    }

    @Test("an event sent on the main actor arrives in a later turn")
    func later() async {
        let subject = Subject<Int>()
        let label = Label()
        subject.subscribe(label, on: MainActor.shared) { $0.show("\($1)") }
        subject.send(1)
        label.show("sent")
        await label.shown(2)
        #expect(label.texts == ["sent", "1"])
    }

    @Test("an observable sends its initial value and its changes, and a part only its own")
    func observables() async {
        let game = Observable(Game())
        let (whole, score) = (Label(), Label())
        game.observe(whole, on: MainActor.shared) { $0.show("\($1.new?.level ?? 0)") }
        let kept = game.observing(\.score).observe(on: MainActor.shared, [.initial, .old, .new]) { score.show("\($0)") }
        await elsewhere {
            game.update { $0.level = 2 }
            game.update { $0.score = 5 }
        }
        await score.shown(2)
        await whole.shown(2)
        #expect(score.texts == ["initially 0", "0 → 5"])
        #expect(whole.texts == ["2", "2"])
        kept.cancel()
    }

    @Test("nothing arrives after cancelling on the main actor, not even earlier events")
    func cancelling() async {
        let subject = Subject<Int>()
        let (label, other) = (Label(), Label())
        let subscription = subject.subscribe(on: MainActor.shared) { label.show("\($0)") }
        let remaining = subject.subscribe(on: MainActor.shared) { other.show("\($0)") }
        await elsewhere { subject.send(1) }
        await other.shown(1)
        subject.send(2)
        subscription.cancel()
        await other.shown(2)
        #expect(label.texts == ["1"])
        remaining.cancel()
    }

    @Test("an observer that registers again gets nothing through its old handler, not even earlier events")
    func replacing() async {
        let value = Observable(0)
        let label = Label()
        value.observe(label, on: MainActor.shared) { $0.show("former \($1)") }
        value.set(1)
        value.observe(label, on: MainActor.shared, [.initial, .new]) { $0.show("\($1)") }
        value.set(2)
        await label.shown(2)
        #expect(label.texts == ["initially 1", "→ 2"])
    }

    @Test("an observer is held weakly")
    func weakly() async {
        let subject = Subject<Int>()
        var label: Label? = Label()
        weak let remaining = label
        let other = Label()
        if let label { subject.subscribe(label, on: MainActor.shared) { $0.show("\($1)") } }
        let kept = subject.subscribe(on: MainActor.shared) { other.show("\($0)") }
        subject.send(1)
        label = nil
        #expect(remaining == nil)
        await other.shown(1)
        kept.cancel()
        #expect(!subject.isObserved)
    }

    @Test("changes that wait for the main actor are merged if the observer asks for it")
    func coalescing() async {
        let value = Observable(0)
        let (each, last) = (Label(), Label())
        value.observe(last, on: MainActor.shared, [.old, .new], coalescing: true) { $0.show("\($1)") }
        value.observe(each, on: MainActor.shared, [.old, .new]) { $0.show("\($1)") }
        for number in 1...100 { value.set(number) }
        await each.shown(100)
        #expect(last.texts == ["0 → 100"])
    }

    @Test("a handler may change what it observes")
    func changing() async {
        let value = Observable(1)
        let label = Label()
        let kept = value.observe(on: MainActor.shared) { change in
            if let new = change.new, new < 10 { value.set(new + 1) }
            label.show("\(change)")
        }
        await elsewhere { value.set(2) }
        await label.shown(9)
        #expect(label.texts == (2...10).map { "→ \($0)" })
        kept.cancel()
    }
}
