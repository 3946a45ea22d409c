// The code of the article UserInterfaces.md: the code between "begin" and "end" is the article's, block by block.

import Mementos
import Testing

// begin
struct Playback: Sendable, Equatable {
    var song = "Blue"
    var seconds = 0
}
// end

// begin
@MainActor
final class SongLabel {
    private(set) var text = ""

    init(_ playback: Observable<Playback>) {
        playback.observing(\.song).observe(self, on: MainActor.shared, [.initial, .new]) { label, change in
            label.text = change.value
        }
    }
}
// end

/// Waits until all events sent so far have arrived: turns of the main actor run one after another.
@MainActor private func settle(_ playback: Observable<Playback>) async {
    let (turns, continuation) = AsyncStream.makeStream(of: Void.self)
    let last = playback.observe(on: MainActor.shared, .initial) { _ in continuation.finish() }
    for await _ in turns {}
    last.cancel()
}

@Suite("The article on user interfaces") @MainActor
struct UserInterfacesArticle {
    @Test("the blocks do what the article says")
    func blocks() async {
        let playback = Observable(Playback())
        let label = SongLabel(playback)
        // begin
        let download = Task.detached {
            playback.update { $0.song = "Hejira" }
        }
        // end
        await download.value
        await settle(playback)
        #expect(label.text == "Hejira")

        @MainActor final class Slider {
            var position = 0
            var subscriptions: Set<Subscription> = []
        }
        let slider = Slider()
        // begin
        playback.observing(\.seconds)
            .observe(on: MainActor.shared, coalescing: true) { change in
                slider.position = change.value
            }
            .store(in: &slider.subscriptions)
        // end
        for second in 1...500 { playback.update { $0.seconds = second } }
        await settle(playback)
        #expect(slider.position == 500)

        let following = Task { @MainActor in
            var songs: [String] = []
            // begin
            for await song in playback.observing(\.song).values() {
                songs.append(song)
                if song == "Court and Spark" { break }
            }
            // end
            return songs
        }
        await settle(playback)
        playback.update { $0.song = "Court and Spark" }
        #expect(await following.value.last == "Court and Spark")
    }
}
