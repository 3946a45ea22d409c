// Decrypts a file: any part of it by reading only the steps that hold it, or everything in order.

package import FoundationEssentials

/// Decrypts one file.
package struct AgeReader: Sendable {
    package let header: AgeHeader
    /// 32 bytes that belong to the file's key alone and do not tell it, as `AgeWriter` passes them on.
    package let commitment: [UInt8]
    /// The whole file's length in bytes.
    package let length: UInt64
    /// The number of plain bytes that a file of this length has.
    ///
    /// Nothing has confirmed it yet: a file that was cut off between two steps is noticed when the last step is read.
    package let plainLength: UInt64
    private let cipher: StepCipher
    private let lastStep: UInt64

    /// Reads part of a file.
    package typealias Fetch = (Range<UInt64>) throws -> [UInt8]

    /// Opens a file by its first bytes, which hold the whole header and the nonce after it.
    ///
    /// - Parameters:
    ///   - start: the first bytes, at least `AgeHeader(parsing:).length + AgeHeader.nonceLength` of them.
    ///   - length: the whole file's length.
    package init(start: [UInt8], length: UInt64, _ identities: [AgeIdentity]) throws(AgeError) {
        try self.init(AgeHeader(parsing: start), start, length, identities)
    }

    /// Opens a file of `length` bytes; `fetch` reads parts of it.
    package init(length: UInt64, _ identities: [AgeIdentity], _ fetch: Fetch) throws {
        var start: [UInt8] = []
        var wanted: UInt64 = 2048
        while true {
            wanted = min(wanted, length, UInt64(AgeHeader.lengthLimit + AgeHeader.nonceLength))
            start += try AgeReader.fetch(UInt64(start.count)..<wanted, fetch)
            let isWhole = wanted == length
            let header = try AgeHeader.parse(start, isWhole: isWhole)
            if let header, isWhole || start.count >= header.length + AgeHeader.nonceLength {
                try self.init(header, start, length, identities)
                return
            }
            wanted *= 8
        }
    }

    private init(
        _ header: AgeHeader, _ start: [UInt8], _ length: UInt64, _ identities: [AgeIdentity]
    ) throws(AgeError) {
        let key = try header.fileKey(identities)
        guard start.count >= header.length + AgeHeader.nonceLength else {
            throw AgeError(.malformedHeader, "the age file is cut off behind its header")
        }
        self.header = header
        self.length = length
        commitment = key.commitment
        cipher = StepCipher(key, nonce: Array(start[header.length..<(header.length + AgeHeader.nonceLength)]))
        let steps = length - min(length, UInt64(header.length + AgeHeader.nonceLength))
        let rest = steps % AgePayload.sealedStepBytes
        let full = steps / AgePayload.sealedStepBytes
        lastStep = rest == 0 && full > 0 ? full - 1 : full
        plainLength = full * AgePayload.stepBytes + (rest > AgePayload.tagBytes ? rest - AgePayload.tagBytes : 0)
    }

    private var stepsStart: UInt64 { UInt64(header.length + AgeHeader.nonceLength) }

    /// Where the encrypted step is.
    private func place(of step: UInt64) -> Range<UInt64> {
        let begin = stepsStart + step * AgePayload.sealedStepBytes
        return begin..<max(begin, min(length, begin + AgePayload.sealedStepBytes))
    }

    private static func fetch(_ range: Range<UInt64>, _ fetch: Fetch) throws -> [UInt8] {
        if range.isEmpty { return [] }
        let bytes = try fetch(range)
        guard bytes.count == range.count else { throw AgeError(.damaged, "the age file is shorter than it was") }
        return bytes
    }

    // MARK: Any part

    /// Decrypts the plain bytes in `range`, as far as there are any.
    ///
    /// - Parameter fetch: reads encrypted bytes; it is called once, with whole steps.
    package func read(_ range: Range<UInt64>, _ fetch: Fetch) throws -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(range.clamped(to: 0..<plainLength).count)
        try read(range, fetch) { plain += $0 }
        return plain
    }

    /// Decrypts the plain bytes in `range`, as far as there are any, and passes them on step by step.
    ///
    /// - Parameters:
    ///   - fetch: reads encrypted bytes; it is called once, with whole steps.
    ///   - body: gets what `range` has of each step. An error after it says that a later step is not authentic.
    package func read(_ range: Range<UInt64>, _ fetch: Fetch, _ body: (Data) throws -> Void) throws {
        let range = range.clamped(to: 0..<plainLength)
        if range.isEmpty { return }
        let first = range.lowerBound / AgePayload.stepBytes
        let last = (range.upperBound - 1) / AgePayload.stepBytes
        let sealed = try AgeReader.fetch(place(of: first).lowerBound..<place(of: last).upperBound, fetch)
        for step in first...last {
            let from = Int((step - first) * AgePayload.sealedStepBytes)
            let content = try open(sealed[from..<min(sealed.count, from + Int(AgePayload.sealedStepBytes))], step)
            let place = step * AgePayload.stepBytes
            let part = range.clamped(to: place..<place + UInt64(content.count))
            let isWhole = part.count == content.count
            try body(
                isWhole ? content : content.subdata(in: Int(part.lowerBound - place)..<Int(part.upperBound - place)))
        }
    }

    /// Confirms `plainLength`: decrypts the last step and checks that it is marked as the last one.
    package func checkEnd(_ fetch: Fetch) throws {
        _ = try open(AgeReader.fetch(place(of: lastStep), fetch)[...], lastStep)
    }

    private func open(_ sealed: ArraySlice<UInt8>, _ step: UInt64) throws(AgeError) -> Data {
        guard let plain = cipher.open(sealed, step: step, isLast: step == lastStep), !(plain.isEmpty && step > 0) else {
            throw damaged(step)
        }
        return plain
    }

    private func damaged(_ step: UInt64) -> AgeError {
        AgeError(.damaged, "the age file is damaged at byte \(place(of: step).lowerBound): it was changed or cut off")
    }

    // MARK: In order

    /// Decrypts everything and passes it on, step by step.
    ///
    /// Each step is authentic when it is passed on. An error after it says that the file was changed or cut off behind
    /// it.
    package func readAll(_ fetch: Fetch, _ body: ([UInt8]) throws -> Void) throws {
        var step: UInt64 = 0
        while true {
            let place = place(of: step)
            let sealed = try AgeReader.fetch(place, fetch)
            let isEnd = place.upperBound == length
            let isFull = UInt64(place.count) == AgePayload.sealedStepBytes
            var isLast = isEnd && !isFull
            var plain = cipher.open(sealed[...], step: step, isLast: isLast)
            if plain == nil, isFull {
                isLast = true
                plain = cipher.open(sealed[...], step: step, isLast: true)
            }
            guard let plain, !(plain.isEmpty && step > 0) else { throw damaged(step) }
            try body(Array(plain))
            if isLast, isEnd { return }
            if isLast { throw AgeError(.damaged, "the age file goes on behind its last step") }
            if isEnd { throw AgeError(.damaged, "the age file is cut off: its last step is missing") }
            step += 1
        }
    }

    /// Decrypts a whole file that is in memory.
    package static func decrypt(_ bytes: [UInt8], _ identities: [AgeIdentity]) throws -> [UInt8] {
        let fetch: Fetch = { Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)]) }
        let reader = try AgeReader(length: UInt64(bytes.count), identities, fetch)
        var plain: [UInt8] = []
        try reader.readAll(fetch) { plain += $0 }
        return plain
    }
}
