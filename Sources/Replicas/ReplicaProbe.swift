// Finds out what a store can do before an archive relies on it.

package import ObjectStore
package import Roots

/// Tries a store with small objects of its own.
package enum ReplicaProbe {
    /// Where the objects of probes are; a reader ignores them.
    package static let prefix = "probes/"

    /// Writes, reads back, lists, reads a range, tries to replace and deletes.
    ///
    /// - Throws: `ArchiverError` if something fails that replicating needs.
    package static func run(_ objects: any ObjectStore) throws(ArchiverError) -> StoreAbilities {
        try facingStore {
            let digits = (0..<16).map { _ in "0123456789abcdef".randomElement() ?? "0" }
            guard let name = ObjectName(prefix + String(digits)) else {
                throw ArchiverError(.system, "the name of a probe is not allowed")
            }
            func wrong(_ reason: String) -> ArchiverError {
                ArchiverError(
                    .replica, "\(objects.address) cannot hold a replica: \(reason)", remedy: "use another store")
            }
            let bytes = Array("archiver probe".utf8)
            guard try objects.put(name, bytes) == .created else { throw wrong("an object that is new was there") }
            guard try objects.get(name) == bytes else { throw wrong("an object is not what was written") }
            guard try objects.get(name, 2..<5) == Array(bytes[2..<5]) else { throw wrong("a part cannot be read") }
            guard try objects.length(of: name) == UInt64(bytes.count) else { throw wrong("a length is wrong") }
            var isListed = false
            try objects.list(prefix) { if $0.name == name { isListed = true } }
            guard isListed else { throw wrong("an object that was written is not listed") }
            let outcome = try objects.put(name, Array("another probe!".utf8))
            let refuses = try outcome == .exists && objects.refusesToOverwrite && objects.get(name) == bytes
            var deletes = true
            do { try objects.delete(name) } catch {
                guard let error = error as? ObjectStoreError, error.code == .notAllowed else { throw error }
                deletes = false
            }
            return StoreAbilities(refusesToOverwrite: refuses, deletes: deletes)
        }
    }
}
