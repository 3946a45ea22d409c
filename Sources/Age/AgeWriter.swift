// Encrypts a file for recipients or with a passphrase.

internal import FoundationEssentials

/// Encrypts one file: in order, piece by piece, or any part of it again.
///
/// The key and the nonce are chosen when the writer is made, so that the same plain bytes always become the same
/// encrypted bytes, and an upload can be repeated. Never encrypt other plain bytes with the same writer.
package struct AgeWriter: Sendable {
    /// The file's first bytes: the header and the nonce.
    package let start: [UInt8]
    /// The header's length in bytes, without the nonce.
    package let headerLength: Int
    private let cipher: StepCipher
    /// What waits for its step to be full, and the steps that are complete.
    private var waiting: [UInt8] = []
    private var step: UInt64 = 0

    /// Makes a writer for recipients.
    ///
    /// - Parameters:
    ///   - recipients: at least one.
    ///   - further: makes stanzas that other programs ignore, from 32 bytes that belong to the file's key alone and do
    ///     not tell it: who signs these has signed the key, and so every byte.
    package init(
        for recipients: [AgeRecipient], further: (_ commitment: [UInt8]) throws -> [AgeStanza] = { _ in [] }
    ) throws {
        guard !recipients.isEmpty else { throw AgeError(.malformedRecipient, "there is no recipient") }
        let key = FileKey()
        var stanzas: [AgeStanza] = []
        for recipient in recipients { stanzas.append(try recipient.stanza(for: key)) }
        self.init(stanzas + (try further(key.commitment)), key)
    }

    /// Makes a writer with a passphrase.
    package init(passphrase: AgePassphrase) throws(AgeError) {
        let key = FileKey()
        self.init([try passphrase.stanza(for: key)], key)
    }

    private init(_ stanzas: [AgeStanza], _ key: FileKey) {
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<AgeHeader.nonceLength).map { _ in UInt8.random(in: 0...255, using: &random) }
        let header = AgeHeader.bytes(stanzas, key: key)
        headerLength = header.count
        start = header + nonce
        cipher = StepCipher(key, nonce: nonce)
    }

    // MARK: In order

    /// Encrypts the next plain bytes; returns the steps that are complete.
    ///
    /// `start` stands before the first.
    package mutating func write(_ plain: [UInt8]) throws(AgeError) -> [UInt8] {
        var sealed: [UInt8] = []
        var rest = plain[...]
        let full = Int(AgePayload.stepBytes)
        // A full step stays until there is more: it may be the last one.
        while waiting.count + rest.count > full {
            let taken = rest.prefix(full - waiting.count)
            rest = rest.dropFirst(taken.count)
            sealed += try cipher.seal(waiting + taken, step: step, isLast: false)
            step += 1
            waiting.removeAll(keepingCapacity: true)
        }
        waiting += rest
        return sealed
    }

    /// Returns the last step.
    package consuming func finish() throws(AgeError) -> [UInt8] {
        try cipher.seal(waiting, step: step, isLast: true)
    }

    /// Encrypts `plain` as a whole file.
    package consuming func whole(_ plain: [UInt8]) throws(AgeError) -> [UInt8] {
        var bytes = start
        bytes += try write(plain)
        bytes += try finish()
        return bytes
    }

    // MARK: Any part

    /// The length of the whole file with `plain` bytes.
    package func length(ofPlain plain: UInt64) -> UInt64 {
        UInt64(headerLength) + AgePayload.length(ofPlain: plain)
    }

    /// The part `range` of the whole file.
    ///
    /// - Parameters:
    ///   - plainLength: the number of plain bytes.
    ///   - read: returns plain bytes, always the same.
    package func bytes(
        _ range: Range<UInt64>, plainLength: UInt64, _ read: (Range<UInt64>) throws -> [UInt8]
    ) throws -> [UInt8] {
        let range = range.clamped(to: 0..<length(ofPlain: plainLength))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        let begin = UInt64(start.count)
        if range.lowerBound < begin { bytes += start[Int(range.lowerBound)..<Int(min(range.upperBound, begin))] }
        guard range.upperBound > begin, !range.isEmpty else { return bytes }
        let first = (max(range.lowerBound, begin) - begin) / AgePayload.sealedStepBytes
        let last = (range.upperBound - begin - 1) / AgePayload.sealedStepBytes
        let final = max(1, (plainLength + AgePayload.stepBytes - 1) / AgePayload.stepBytes) - 1
        for step in first...last {
            let plain = step * AgePayload.stepBytes..<min(plainLength, (step + 1) * AgePayload.stepBytes)
            let content = plain.isEmpty ? [] : try read(plain)
            guard content.count == plain.count else {
                throw AgeError(.damaged, "the plain bytes became fewer while they were encrypted")
            }
            let sealed = try cipher.seal(content, step: step, isLast: step == final)
            let place = begin + step * AgePayload.sealedStepBytes
            let part = range.clamped(to: place..<place + UInt64(sealed.count))
            bytes += sealed[Int(part.lowerBound - place)..<Int(part.upperBound - place)]
        }
        return bytes
    }
}
