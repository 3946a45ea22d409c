// The replicas below one address, and how old the newest state of each is: without any key.

internal import ArchiveFormat
internal import ArchiveStorage
package import FileIO
package import ObjectStore
package import Roots

/// A replica below an address, as its store shows it to somebody without a key.
///
/// Nothing of it is verified: only the content of an object, which needs a key, proves who made it.
package struct FleetMember: Sendable {
    /// The names of its objects begin with this: empty, or a path that ends with `/`.
    package let prefix: String
    package fileprivate(set) var host: String?
    package fileprivate(set) var objects = 0
    package fileprivate(set) var bytes: UInt64 = 0
    /// It has what was committed before this; nil if nothing says so.
    package fileprivate(set) var newest: Timestamp?
    /// Why it cannot be described, as a sentence.
    package fileprivate(set) var problem: String?

    /// The names of the objects that may be the newest: the last of each kind.
    fileprivate var last: [ObjectName] = []
    fileprivate var segment: String?
    fileprivate var piece: (path: String, offset: Int)?

    init(prefix: String) { self.prefix = prefix }

    /// How old its newest state is, in seconds; nil if it has none.
    package func lagSeconds(at now: Timestamp) -> Double? { newest.map { Double(max(0, now.seconds - $0.seconds)) } }

    /// Counts an object, which is a part of this replica.
    fileprivate mutating func count(_ object: ReplicaObject?, _ entry: ObjectEntry) {
        objects += 1
        bytes += entry.length
        switch object {
        case .segment(let path):
            guard path >= segment ?? "" else { return }
            segment = path
            last.removeAll { $0.text.hasPrefix(prefix + ReplicaObject.segments) }
        case .piece(let path, let offset, _):
            guard (path, offset) >= piece ?? ("", 0) else { return }
            piece = (path, offset)
            last.removeAll { $0.text.hasPrefix(prefix + ReplicaObject.pieces) }
        case .checkpoint, nil: return
        }
        last.append(entry.name)
    }

    /// Finds the replicas in a store, by the names of their objects.
    package static func all(in objects: any ObjectStore) throws(ArchiverError) -> [FleetMember] {
        try facingStore {
            var members: [String: FleetMember] = [:]
            try objects.list("") { entry in
                guard let (prefix, object) = parts(of: entry.name) else { return }
                members[prefix, default: FleetMember(prefix: prefix)].count(object, entry)
            }
            return members.values.sorted { $0.prefix < $1.prefix }.map { described($0, objects) }
        }
    }

    /// The prefix of an object's replica, and which of its objects it is; nil if it belongs to none.
    private static func parts(of name: ObjectName) -> (prefix: String, object: ReplicaObject?)? {
        let components = name.text.split(separator: "/", omittingEmptySubsequences: false)
        func prefix(_ count: Int) -> String { components.prefix(count).map { "\($0)/" }.joined() }
        if components.last.map(String.init) == ReplicaObject.manifest { return (prefix(components.count - 1), nil) }
        // A segment has five components, a piece three, a checkpoint two.
        for count in [5, 3, 2] where components.count >= count {
            let rest = components.suffix(count).joined(separator: "/")
            if let object = ObjectName(rest).flatMap({ ReplicaObject($0) }) {
                return (prefix(components.count - count), object)
            }
        }
        return nil
    }

    private static func described(_ found: FleetMember, _ objects: any ObjectStore) -> FleetMember {
        var member = found
        do throws(ArchiverError) {
            guard let name = ObjectName(member.prefix + ReplicaObject.manifest),
                let manifest = try ReplicaManifest.read(from: objects, name)
            else {
                member.problem = "it has no \(ReplicaObject.manifest)"
                return member
            }
            member.host = manifest.host
            for name in member.last {
                let time = try ObjectHeader.read(name, from: objects).time.time
                member.newest = max(member.newest ?? time, time)
            }
        } catch { member.problem = error.message }
        return member
    }
}
