// Opens the store of an address.

internal import Foundation
package import ObjectStore
package import Roots

/// How the store of a replica's address is opened; tests open one in memory.
package struct ReplicaStores: Sendable {
    private let opening: @Sendable (String) throws(ObjectStoreError) -> any ObjectStore

    package init(_ opening: @escaping @Sendable (String) throws(ObjectStoreError) -> any ObjectStore) {
        self.opening = opening
    }

    /// The stores that addresses name.
    package static let all = ReplicaStores { (address) throws(ObjectStoreError) in
        try ObjectStores.open(StoreAddress(address), environment: ProcessInfo.processInfo.environment)
    }

    package func open(_ address: String) throws(ArchiverError) -> any ObjectStore {
        do { return try opening(address) } catch {
            if error.code == .badAddress {
                throw ArchiverError(.unsuitableSettings, error.description, remedy: error.remedy)
            }
            throw ArchiverError(store: error)
        }
    }
}
