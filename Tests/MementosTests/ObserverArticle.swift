// The code of the article Observer.md: the code between "begin" and "end" is the article's, block by block.

import Mementos
import Synchronization
import Testing

@Suite struct ObserverArticle {
    @Test("the blocks do what the article says") func blocks() async {
        let printed = Log<String>()
        @Sendable func print(_ items: Any...) { printed.add(items.map { "\($0)" }.joined(separator: " ")) }

        // begin
        enum NetworkStatus: Sendable { case online, offline }

        let status = Subject<NetworkStatus>()
        let logging = status.subscribe { print("network:", $0) }
        status.send(.offline)
        logging.cancel()
        // end
        #expect(printed.items == ["network: offline"])
        printed.removeAll()

        // begin
        final class UploadQueue: Sendable {
            let isPaused = Atomic(false)

            init(_ status: Subject<NetworkStatus>) {
                status.subscribe(self) { queue, status in
                    queue.isPaused.store(status == .offline, ordering: .relaxed)
                }
            }
        }
        // end
        var queue: UploadQueue? = UploadQueue(status)
        status.send(.offline)
        #expect(queue?.isPaused.load(ordering: .relaxed) == true)
        status.send(.online)
        #expect(queue?.isPaused.load(ordering: .relaxed) == false)
        queue = nil
        #expect(!status.isObserved)

        // begin
        struct Game: Sendable, Equatable {
            var level = 1
            var score = 0
        }

        let game = Observable(Game())
        let board = game.observing(\.score).observe([.initial, .old, .new]) { change in
            print(change.old ?? 0, "→", change.new ?? 0)
        }
        game.update { $0.score += 100 }
        game.update { $0.level = 2 }
        // end
        #expect(printed.items == ["0 → 0", "0 → 100"])
        board.cancel()

        // begin
        let level: WritablePart<Game, Int> = game.observing(\.level)
        level.set(3)
        level.update { $0 += 1 }
        // end
        #expect(game.value == Game(level: 4, score: 100))

        // begin
        for await score in game.observing(\.score).values() {
            if score >= 100 { break }
        }
        // end
        #expect(!game.isObserved)
    }
}
