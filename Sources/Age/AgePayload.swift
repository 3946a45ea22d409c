// The encrypted bytes: steps of 64 KiB, each with a tag, the last one marked (C2SP age.md, "Payload"; RFC 8439).

internal import Crypto
internal import FoundationEssentials

/// Lengths of encrypted bytes, which stand behind the header: a nonce, and the steps.
package enum AgePayload {
    /// The plain bytes of a step; the last one may be shorter.
    package static let stepBytes: UInt64 = 64 << 10
    static let tagBytes: UInt64 = 16
    static let sealedStepBytes = stepBytes + tagBytes
    static let nonceBytes = UInt64(AgeHeader.nonceLength)

    /// The length of the nonce and the steps of `plain` bytes.
    package static func length(ofPlain plain: UInt64) -> UInt64 {
        nonceBytes + plain + max(1, (plain + stepBytes - 1) / stepBytes) * tagBytes
    }

    /// Where the steps with the plain bytes in `range` are in a file, as far as it has them.
    ///
    /// - Parameters:
    ///   - length: the length of the file.
    ///   - plain: how many plain bytes it is said to have.
    package static func place(
        of range: Range<UInt64>, inFileOf length: UInt64, withPlain plain: UInt64
    ) -> Range<UInt64> {
        let start = length - min(length, self.length(ofPlain: plain)) + nonceBytes
        let end = start + (range.upperBound + stepBytes - 1) / stepBytes * sealedStepBytes
        return min(length, start + range.lowerBound / stepBytes * sealedStepBytes)..<min(length, end)
    }

    /// The number of plain bytes in a nonce and steps of `length` bytes; nil if no number of plain bytes has it.
    package static func plainLength(of length: UInt64) -> UInt64? {
        guard length >= nonceBytes + tagBytes else { return nil }
        let steps = length - nonceBytes
        let rest = steps % sealedStepBytes
        let full = steps / sealedStepBytes
        if rest == 0 { return full * stepBytes }
        // The last step is not empty, unless it is the only one.
        guard rest > tagBytes || (rest == tagBytes && full == 0) else { return nil }
        return full * stepBytes + rest - tagBytes
    }
}

/// Encrypts and decrypts steps with the key of one file.
struct StepCipher: Sendable {
    private let key: SymmetricKey

    init(_ fileKey: FileKey, nonce: [UInt8]) {
        key = fileKey.derived(info: "payload", salt: nonce)
    }

    private static let nonceLength = 12

    /// The nonce of a step: its number, big-endian in 11 bytes, and whether it is the last one.
    private func nonce(_ step: UInt64, _ isLast: Bool) -> [UInt8] {
        [0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: step >> UInt64(56 - 8 * $0)) } + [isLast ? 1 : 0]
    }

    func seal(_ plain: some DataProtocol, step: UInt64, isLast: Bool) throws(AgeError) -> [UInt8] {
        do {
            let nonce = try ChaChaPoly.Nonce(data: nonce(step, isLast))
            let box = try ChaChaPoly.seal(plain, using: key, nonce: nonce)
            // The combined form begins with the nonce.
            return Array(box.combined.dropFirst(StepCipher.nonceLength))
        } catch { throw AgeError(.damaged, "cannot encrypt: \(error)") }
    }

    /// The plain bytes; nil if the step is not authentic at this place.
    func open(_ sealed: ArraySlice<UInt8>, step: UInt64, isLast: Bool) -> Data? {
        guard sealed.count >= Int(AgePayload.tagBytes) else { return nil }
        // The box takes bytes in this form as they are.
        var combined = Data(capacity: StepCipher.nonceLength + sealed.count)
        combined.append(contentsOf: nonce(step, isLast))
        combined.append(contentsOf: sealed)
        guard let box = try? ChaChaPoly.SealedBox(combined: combined) else { return nil }
        return try? ChaChaPoly.open(box, using: key)
    }
}
