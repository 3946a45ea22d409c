// Reads a replica with an identity: every byte is checked to be its signer's.

package import Age
internal import ArchiveFormat
internal import ArchiveStorage
internal import Crypto
internal import FileIO
internal import FoundationEssentials
package import ObjectStore
package import Roots
internal import Threading

/// A replica that can be read.
package struct ReplicaReader: Sendable {
    package let objects: any ObjectStore
    package let manifest: ReplicaManifest
    private let signer: Curve25519.Signing.PublicKey
    private let identities: [AgeIdentity]
    private let listed: Future<ReplicaInventory>?

    /// Opens the replica in a store.
    ///
    /// - Parameters:
    ///   - identities: what decrypts it; may be empty if everybody may read it.
    ///   - signer: the public key that must have signed it, 64 hex digits; nil to trust the replica's description.
    ///   - lists: whether its objects are listed at the same time, for `inventory`.
    /// - Throws: `ArchiverError` with the code `replica` if there is no replica, `wrongIdentity`.
    package init(
        _ objects: any ObjectStore, _ identities: [AgeIdentity], signer expected: String? = nil, lists: Bool = false
    ) throws(ArchiverError) {
        listed = lists ? Future(for: "the list of a replica") { try ReplicaInventory(objects) } : nil
        guard let manifest = try ReplicaManifest.read(from: objects), let signer = manifest.signerKey else {
            throw ArchiverError(
                .replica, "there is no replica in \(objects.address): it has no \(ReplicaObject.manifest)",
                remedy: "correct the address, or mount its disk")
        }
        if let expected, expected.lowercased() != manifest.signer {
            throw ArchiverError(
                .replica, "the replica in \(objects.address) is signed by \(manifest.signer), not by \(expected)",
                remedy: "correct the key if it is wrong; otherwise somebody has replaced the replica")
        }
        self.objects = objects
        self.manifest = manifest
        self.signer = signer
        do {
            self.identities = try identities + (manifest.identity.map { [try AgeIdentity($0)] } ?? [])
        } catch {
            throw ArchiverError(.replica, "the identity in the replica's description is damaged: \(error)")
        }
        if self.identities.isEmpty {
            throw ArchiverError(
                .wrongIdentity, "the replica in \(objects.address) is encrypted, and no identity is named",
                remedy: Advice.nameIdentity.text)
        }
    }

    /// The replica's objects.
    func inventory() throws(ArchiverError) -> ReplicaInventory {
        try facingStore { try listed?.value() ?? ReplicaInventory(objects) }
    }

    /// An object whose header is the signer's.
    package struct Opened: Sendable {
        package let name: ObjectName
        package let object: ReplicaObject
        package let time: ReplicaTime
        fileprivate let objects: any ObjectStore
        fileprivate let bytes: ObjectBytes
        fileprivate let reader: AgeReader
        fileprivate let signature: ReplicaSignature
        fileprivate let signer: Curve25519.Signing.PublicKey
        fileprivate let archive: ArchiveID

        /// The bytes of its content.
        package var length: Int { Int(clamping: reader.plainLength) }

        /// The content in `range`, as far as there is any.
        ///
        /// - Throws: `ArchiverError` that names the object if the bytes are not the signer's.
        package func read(_ range: Range<Int>) throws(ArchiverError) -> [UInt8] {
            try reading { try reader.read(UInt64(range.lowerBound)..<UInt64(range.upperBound)) { try fetch($0) } }
        }

        /// Passes on the content in `range`, as far as there is any, in the steps in which it was encrypted.
        ///
        /// - Throws: `ArchiverError` that names the object if bytes behind those passed on are not the signer's.
        func read(_ range: Range<Int>, _ body: (Data) -> Void) throws(ArchiverError) {
            try reading {
                try reader.read(UInt64(range.lowerBound)..<UInt64(range.upperBound), { try fetch($0) }, body)
            }
        }

        /// Passes on the first step of the content, if it came with the header.
        func readFirst(_ body: (Data) -> Void) throws(ArchiverError) {
            let first = 0..<min(length, Int(AgePayload.stepBytes))
            guard !first.isEmpty else { return }
            let place = AgePayload.place(
                of: 0..<UInt64(first.count), inFileOf: reader.length, withPlain: reader.plainLength)
            if bytes.isKept(place) { try read(first, body) }
        }

        /// Confirms that the object was not cut off.
        package func checkEnd() throws(ArchiverError) { try reading { try reader.checkEnd { try fetch($0) } } }

        private func fetch(_ range: Range<UInt64>) throws -> [UInt8] { try bytes.read(range) }

        /// Whether the signer signed this content.
        func isOf(sha256: [UInt8]) -> Bool {
            let place = ReplicaSignature.Place(of: archive, object, at: time, length: length)
            return signature.covers(place, sha256: sha256, by: signer)
        }

        /// Releases what came with the header; it is read again if it is needed.
        package func releaseBytes() { bytes.release() }

        private func reading<Result>(_ body: () throws -> Result) throws(ArchiverError) -> Result {
            do { return try body() } catch let error as AgeError {
                throw ArchiverError.notAuthentic(name, objects, "\(error)")
            } catch { throw ArchiverError(store: error) }
        }

        /// Calls `body` with each piece of the content, in order, and where it begins.
        private func forEachPiece(_ requests: Int, _ body: ([UInt8], _ offset: Int) throws -> Void) throws {
            let pieces = stride(from: 0, to: length, by: Opened.pieceBytes).map {
                $0..<min(length, $0 + Opened.pieceBytes)
            }
            guard requests > 1, let last = pieces.last else {
                for piece in pieces { try body(read(piece), piece.lowerBound) }
                return
            }
            try withoutActuallyEscaping(body) { body in
                let pipeline = OrderedPipeline<Range<Int>, (bytes: [UInt8], offset: Int)>(
                    width: requests, ownThreads: true, transform: { (try read($0), $0.lowerBound) },
                    consume: { try body($0.bytes, $0.offset) })
                for piece in pieces.dropLast() { try pipeline.submit(piece) }
                try pipeline.finish(with: last)
            }
        }

        private static let pieceBytes = 4 << 20
        /// The first piece, and more than most headers.
        fileprivate static let firstBytes = AgePayload.length(ofPlain: UInt64(pieceBytes)) + 16 << 10

        /// Reads all of the content, and checks that it is what was signed.
        ///
        /// - Parameter requests: how many pieces of 4 MiB are asked for at the same time.
        package func readAll(
            requests: Int = 1, _ body: ([UInt8], _ offset: Int) throws -> Void
        ) throws(ArchiverError) {
            try reading {
                var hash = SHA256()
                try forEachPiece(requests) { piece, position in
                    guard !piece.isEmpty else { throw ArchiverError.notAuthentic(name, objects, "it was cut off") }
                    hash.update(data: piece)
                    try body(piece, position)
                }
                // The last step of a content was read as the last one.
                if length == 0 { try checkEnd() }
                let place = ReplicaSignature.Place(of: archive, object, at: time, length: length)
                guard signature.covers(place, sha256: Array(hash.finalize()), by: signer) else {
                    throw ArchiverError.notAuthentic(name, objects, "the signature does not cover its content")
                }
            }
        }
    }

    /// Opens an object.
    ///
    /// - Parameters:
    ///   - length: the length of the object.
    ///   - readsAll: whether all of it is read next.
    ///   - next: what is read next of a content whose length is known, so that it comes at the same time as the header.
    /// - Throws: `ArchiverError` with the code `wrongIdentity` if it is encrypted for others, `replica` if it is not the
    ///   signer's.
    package func open(
        _ object: ReplicaObject, length: UInt64, readsAll: Bool = false,
        next: (range: Range<Int>, ofLength: Int)? = nil
    ) throws(ArchiverError) -> Opened {
        guard let name = object.name else { throw ArchiverError(.system, "\(object.text) is no object's name") }
        do {
            let next = next.map { next in
                AgePayload.place(
                    of: UInt64(next.range.lowerBound)..<UInt64(next.range.upperBound), inFileOf: length,
                    withPlain: UInt64(next.ofLength))
            }
            let bytes = ObjectBytes(name, length, objects, firstBytes: readsAll ? Opened.firstBytes : 0, next)
            let reader = try AgeReader(length: length, identities) { try bytes.read($0) }
            guard let header = ObjectHeader(reader.header) else {
                throw ArchiverError.notAuthentic(name, objects, "it has no signature")
            }
            let place = ReplicaSignature.Place(
                of: manifest.archive, object, at: header.time, length: Int(clamping: reader.plainLength))
            guard header.signature.covers(place, commitment: reader.commitment, by: signer) else {
                throw ArchiverError.notAuthentic(
                    name, objects, "the replica's signer has not signed an object of this name and length")
            }
            if case .piece(_, _, let count) = object, reader.plainLength != UInt64(count) {
                throw ArchiverError.notAuthentic(
                    name, objects, "it has \(reader.plainLength) bytes of content, its name says \(count)")
            }
            return Opened(
                name: name, object: object, time: header.time, objects: objects, bytes: bytes, reader: reader,
                signature: header.signature, signer: signer, archive: manifest.archive)
        } catch let error as ObjectStoreError where error.code == .noSuchObject {
            throw ArchiverError.notAuthentic(name, objects, "it is listed, and it is not there")
        } catch let error as AgeError {
            guard error.code == .noMatch else { throw ArchiverError.notAuthentic(name, objects, "\(error)") }
            throw ArchiverError(
                .wrongIdentity, "\(name) in \(objects.address) cannot be read: \(error)",
                remedy: "use the identity of one of its recipients")
        } catch { throw ArchiverError(store: error) }
    }
}

/// The encrypted bytes of an object: its beginning is read by one request with its header, a small object as a whole.
private final class ObjectBytes: Sendable {
    private let name: ObjectName
    private let length: UInt64
    private let objects: any ObjectStore
    /// How many bytes the first request reads.
    private let firstBytes: UInt64
    private let kept = Locked<[UInt8]?>(nil)
    /// What is read at the same time.
    private let next: Locked<Next?>

    /// A header, and the first step with the segment's own header.
    private static let beginningBytes: UInt64 = 68 << 10
    /// What is read as a whole: a request costs more than these bytes.
    private static let smallBytes: UInt64 = 256 << 10

    private struct Next {
        let range: Range<UInt64>
        let bytes: Future<[UInt8]>
    }

    /// - Parameters:
    ///   - firstBytes: how many bytes are likely to be read soon, from the first one on.
    ///   - next: what is likely to be read first.
    init(
        _ name: ObjectName, _ length: UInt64, _ objects: any ObjectStore, firstBytes: UInt64, _ next: Range<UInt64>?
    ) {
        self.name = name
        self.length = length
        self.objects = objects
        let first = length <= ObjectBytes.smallBytes ? length : min(length, max(firstBytes, ObjectBytes.beginningBytes))
        if let next, !next.isEmpty, next.lowerBound > first {
            self.next = Locked(Next(range: next, bytes: Future(for: "an object") { try objects.get(name, next) }))
            self.firstBytes = first
        } else {
            self.next = Locked(nil)
            self.firstBytes = max(first, next?.upperBound ?? 0)
        }
    }

    func read(_ range: Range<UInt64>) throws -> [UInt8] {
        if range.upperBound <= firstBytes {
            let beginning: [UInt8]
            if let known = kept.withLock({ $0 }) {
                beginning = known
            } else {
                beginning = try objects.get(name, 0..<firstBytes)
                kept.withLock { $0 = beginning }
            }
            return ObjectBytes.part(range, of: beginning, at: 0)
        }
        guard let next = takeNext(range) else { return try objects.get(name, range) }
        return ObjectBytes.part(range, of: try next.bytes.value(), at: next.range.lowerBound)
    }

    /// What is read at the same time, if it has `range`: once, as a request that failed is to be made again.
    private func takeNext(_ range: Range<UInt64>) -> Next? {
        next.withLock { next in
            guard let taken = next, taken.range.clamped(to: range) == range else { return nil }
            next = nil
            return taken
        }
    }

    private static func part(_ range: Range<UInt64>, of bytes: [UInt8], at offset: UInt64) -> [UInt8] {
        let range = range.clamped(to: offset..<offset + UInt64(bytes.count))
        return Array(bytes[Int(range.lowerBound - offset)..<Int(range.upperBound - offset)])
    }

    /// Whether the bytes came with the header.
    func isKept(_ range: Range<UInt64>) -> Bool {
        kept.withLock { kept in kept.map { range.upperBound <= UInt64($0.count) } ?? false }
    }

    /// Releases what was read with the header.
    func release() {
        kept.withLock { $0 = nil }
        next.withLock { $0 = nil }
    }
}

extension ReplicaReader {
    /// How many objects are tried with the identities before the replica is read.
    private static let triedObjects = 8

    /// Throws if the identities fit none of the first objects: a forged one may be among them.
    func requireFitting(_ inventory: ReplicaInventory) throws(ArchiverError) {
        var failure: ArchiverError?
        for path in inventory.paths.prefix(ReplicaReader.triedObjects) {
            guard let first = inventory.parts(of: path).first else { continue }
            do throws(ArchiverError) {
                _ = try open(first.object, length: first.bytes)
                return
            } catch {
                guard error.code == .wrongIdentity || error.code == .damaged else { throw error }
                if error.code == .wrongIdentity { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }
}
