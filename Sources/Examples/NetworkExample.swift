// Observer: the network's status is sent to three observers that it does not know.

import ArgumentParser
import Mementos
import Synchronization

enum NetworkStatus: String, Sendable { case online, offline }

/// Queues uploads while the network is offline.
final class UploadQueue: Sendable {
    private let waiting = Mutex(0)

    func observe(_ status: Subject<NetworkStatus>) {
        status.subscribe(self) { queue, status in
            queue.waiting.withLock { waiting in
                waiting = status == .offline ? waiting + 1 : 0
                print("queue: \(waiting) waiting")
            }
        }
    }
}

struct NetworkExample: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Send the status of a network to three observers.")

    func run() {
        let status = Subject<NetworkStatus>()
        let label = status.subscribe { print("label: \($0.rawValue)") }
        let log = status.subscribe { print("log: the network is \($0.rawValue)") }
        var queue: UploadQueue? = UploadQueue()
        queue?.observe(status)

        status.send(.offline)
        label.cancel()
        status.send(.online)
        queue = nil
        status.send(.offline)
        log.cancel()
        status.send(.online)
        print("observed by anybody: \(status.isObserved)")
    }
}
