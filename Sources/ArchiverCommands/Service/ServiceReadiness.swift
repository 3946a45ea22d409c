// Which roots of the service are watched, for the service manager.

internal import ArchiverKit
internal import FileIO
internal import SystemPackage
internal import Threading

/// Follows the events of the service: it is ready once each root is watched and compared, or cannot be now.
final class ServiceReadiness: Sendable {
    private enum Condition { case starting, watched, absent, failed, covered }

    private let notifier: ServiceNotifier
    private let roots: Locked<[FilePath: Condition]>

    init(_ notifier: ServiceNotifier, _ roots: [FilePath]) {
        self.notifier = notifier
        self.roots = Locked(Dictionary(roots.map { ($0, .starting) }) { first, _ in first })
        update()
    }

    func add(_ event: WatchService.Event) {
        switch event {
        case .starting(let root, _): set(.starting, root)
        case .watching(let root, _, _, _), .available(let root): set(.watched, root)
        case .waiting(let root), .unavailable(let root): set(.absent, root)
        case .covered(let root, _): set(.covered, root)
        case .error(let root, _): fail(root)
        case .stopped(let root): set(nil, root)
        case .snapshot(let snapshot): recover(FilePath(bytes: snapshot.rootPath))
        default: return
        }
    }

    private func set(_ condition: Condition?, _ root: FilePath) {
        roots.withLock { $0[root] = condition }
        update()
    }

    private func fail(_ root: FilePath) { set(.failed, root) }

    private func recover(_ root: FilePath) {
        let isNews = roots.withLock { roots in
            guard roots[root] == .failed else { return false }
            roots[root] = .watched
            return true
        }
        if isNews { update() }
    }

    private func update() {
        let roots = roots.withLock { Array($0.values) }
        func count(_ condition: Condition) -> Int { roots.count { $0 == condition } }
        var parts = ["\(Plural.of(count(.watched) + count(.covered), "root")) watched"]
        if count(.starting) > 0 { parts.append("\(count(.starting)) being read") }
        if count(.absent) > 0 { parts.append("\(count(.absent)) missing") }
        if count(.failed) > 0 { parts.append("\(count(.failed)) with errors, see 'archiver status'") }
        notifier.show(parts.joined(separator: ", "))
        if count(.starting) == 0 { notifier.ready() }
    }
}
