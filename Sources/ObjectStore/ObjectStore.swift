// What a store of immutable objects does: put once, read whole or in part, list, delete. It knows no archive.

/// A store of objects that are written once and never changed.
///
/// All calls block, so they run on threads of their own and never on Swift's cooperative pool. They may run in parallel.
/// A call repeats a request that failed for a moment, with growing pauses, before it throws. Every implementation passes
/// the same tests (`StoreContractTests`).
package protocol ObjectStore: Sendable {
    /// The address as given, without secrets; for messages.
    var address: String { get }

    /// Whether the store itself keeps objects from being replaced. Otherwise `put` looks for the object first, which does
    /// not help if two machines create it at the same time. It is known after a `put`.
    var refusesToOverwrite: Bool { get }

    /// Creates the object `name`. An existing object is never replaced.
    ///
    /// - Returns: `.exists` if an object of that name exists, perhaps from an earlier try whose answer was lost.
    func put(_ name: ObjectName, from source: any ObjectSource) throws(ObjectStoreError) -> PutOutcome

    /// Reads an object, or the part of it that is in `range`: fewer bytes if it ends earlier.
    ///
    /// - Throws: `ObjectStoreError` `.noSuchObject`, `.tooLarge` if more than `ObjectLimit.bytesInMemory` are asked for.
    func get(_ name: ObjectName, _ range: Range<UInt64>?) throws(ObjectStoreError) -> [UInt8]

    /// The length in bytes; nil if the store has no such object.
    func length(of name: ObjectName) throws(ObjectStoreError) -> UInt64?

    /// Calls `body` for every object whose name begins with `prefix`, in the order of the names.
    ///
    /// Names that are no `ObjectName` are skipped.
    ///
    /// - Throws: `ObjectStoreError`, and any error of `body`.
    func list(_ prefix: String, _ body: (ObjectEntry) throws -> Void) throws

    /// Removes the object; there may be none.
    func delete(_ name: ObjectName) throws(ObjectStoreError)

    /// Makes running and later calls throw `.cancelled`; from any thread.
    func close()
}

extension ObjectStore {
    package var refusesToOverwrite: Bool { true }

    /// Creates the object `name` with `bytes`; an existing object is never replaced.
    package func put(_ name: ObjectName, _ bytes: [UInt8]) throws(ObjectStoreError) -> PutOutcome {
        try put(name, from: BytesSource(bytes))
    }

    /// Reads a whole object.
    package func get(_ name: ObjectName) throws(ObjectStoreError) -> [UInt8] { try get(name, nil) }

    /// How an operation is named in errors: "read x.age from s3://bucket".
    func naming(_ verb: String, _ name: ObjectName, _ preposition: String = "in") -> String {
        "\(verb) \(name) \(preposition) \(address)"
    }

    /// How the list of the objects whose names begin with `prefix` is named in errors.
    func namingList(_ prefix: String) -> String {
        prefix.isEmpty ? "list the objects in \(address)" : "list \(prefix) in \(address)"
    }
}

/// What became of an object that should be created.
package enum PutOutcome: Sendable, Hashable {
    case created
    /// There was one of that name, which is unchanged.
    case exists
}

/// An object in a list.
package struct ObjectEntry: Sendable, Hashable {
    package let name: ObjectName
    package let length: UInt64
}

/// The bytes of an object to create.
///
/// A store may read them several times, and gets the same each time.
package protocol ObjectSource: Sendable {
    var length: UInt64 { get }
    /// The most bytes to read and send at a time; all sources have at least one.
    var pieceBytes: UInt64 { get }
    /// The bytes in `range`, which is within the length.
    func read(_ range: Range<UInt64>) throws -> [UInt8]
    /// The same bytes for a reader that does not send them: nothing slows it down.
    var unpaced: any ObjectSource { get }
}

extension ObjectSource {
    package var pieceBytes: UInt64 { ObjectLimit.pieceBytes }
    package var unpaced: any ObjectSource { self }
}

/// The bytes of a small object.
package struct BytesSource: ObjectSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var length: UInt64 { UInt64(bytes.count) }

    package func read(_ range: Range<UInt64>) -> [UInt8] { Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) }
}

package enum ObjectLimit {
    /// The most bytes that one `get` returns.
    package static let bytesInMemory: UInt64 = 1 << 30
    /// The most bytes of a source that are read at a time.
    package static let pieceBytes: UInt64 = 1 << 20
}

extension ObjectSource {
    /// Reads the source in pieces; an error of the source is one of the caller's file.
    func forEachPiece(
        _ operation: String, _ body: ([UInt8]) throws(ObjectStoreError) -> Void
    ) throws(ObjectStoreError) {
        var position: UInt64 = 0
        while position < length {
            let range = position..<min(length, position + pieceBytes)
            try body(piece(range, operation))
            position = range.upperBound
        }
    }

    /// Reads `range`; it must be there as a whole.
    func piece(_ range: Range<UInt64>, _ operation: String) throws(ObjectStoreError) -> [UInt8] {
        let bytes: [UInt8]
        do { bytes = try read(range) } catch { throw ObjectStoreError(.failed, operation, "\(error)") }
        guard bytes.count == range.count else {
            throw ObjectStoreError(.failed, operation, "the source became shorter while it was read")
        }
        return bytes
    }
}
