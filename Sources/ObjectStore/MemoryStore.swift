// A store in memory whose calls fail on demand, for tests.

internal import Threading

/// Objects in memory; a fault can be arranged for any call.
package final class MemoryStore: ObjectStore {
    /// How a call goes wrong.
    package enum Fault: Sendable, Hashable {
        /// The call fails and has no effect.
        case fails(ObjectStoreError.Code)
        /// The call has its effect, but the answer is lost.
        case answerLost
        /// The call has no effect, and does not return before the store is closed.
        case hangs
        /// A read returns half of the bytes without an error; a put stores nothing and throws; a list ends half-way and
        /// throws.
        case isCut
        /// The request is carried out twice, as by a proxy that repeats it; the second answer counts.
        case repeated
    }

    /// A call, as the tests count and compare them.
    package enum Call: Sendable, Hashable {
        case put(ObjectName), get(ObjectName, Range<UInt64>?), length(ObjectName), list(String), delete(ObjectName)
    }

    private struct State {
        var objects: [ObjectName: [UInt8]] = [:]
        var calls: [Call] = []
        var faults: [Int: Fault] = [:]
        var standing: (@Sendable (Call) -> Fault?)?
    }

    package let address: String
    package let refusesToOverwrite: Bool
    private let allowsDeleting: Bool
    private let state = Locked(State())
    private let closing = StoreClosing()

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - refusesToOverwrite: false for a store that ignores conditions, and so replaces objects.
    ///   - allowsDeleting: whether the credentials allow it.
    package init(
        address: String = "memory:", refusesToOverwrite: Bool = true, allowsDeleting: Bool = true
    ) {
        self.address = address
        self.refusesToOverwrite = refusesToOverwrite
        self.allowsDeleting = allowsDeleting
    }

    // MARK: For tests

    /// All calls so far, also failed ones.
    package var calls: [Call] { state.withLock { $0.calls } }

    /// The objects, which a test may change as a hostile store would.
    package var objects: [ObjectName: [UInt8]] {
        get { state.withLock { $0.objects } }
        set { state.withLock { $0.objects = newValue } }
    }

    /// Lets the call number `number`, counted from 0 since the store was created, go wrong.
    package func arrange(_ fault: Fault, atCall number: Int) {
        state.withLock { $0.faults[number] = fault }
    }

    /// Asks `choose` before every call whether it goes wrong; nil ends that.
    package func arrange(_ choose: (@Sendable (Call) -> Fault?)?) {
        state.withLock { $0.standing = choose }
    }

    // MARK: ObjectStore

    package func put(_ name: ObjectName, from source: any ObjectSource) throws(ObjectStoreError) -> PutOutcome {
        let operation = naming("write", name, "to")
        let fault = try begin(.put(name), operation)
        if fault == .isCut { throw ObjectStoreError(.unreachable, operation, "the connection broke") }
        var bytes: [UInt8] = []
        try source.forEachPiece(operation) { (piece) throws(ObjectStoreError) in bytes += piece }
        let isReplacing = !refusesToOverwrite
        var outcome = PutOutcome.exists
        for _ in 0..<(fault == .repeated ? 2 : 1) {
            outcome = state.withLock { state in
                if state.objects[name] != nil, !isReplacing { return .exists }
                state.objects[name] = bytes
                return .created
            }
        }
        try end(fault, operation)
        return outcome
    }

    package func get(_ name: ObjectName, _ range: Range<UInt64>?) throws(ObjectStoreError) -> [UInt8] {
        let operation = naming("read", name, "from")
        let fault = try begin(.get(name, range), operation)
        guard var bytes = state.withLock({ $0.objects[name] }) else { throw ObjectStoreError(.noSuchObject, operation) }
        if let range {
            let end = min(range.upperBound, UInt64(bytes.count))
            bytes = range.lowerBound >= end ? [] : Array(bytes[Int(range.lowerBound)..<Int(end)])
        }
        if fault == .isCut { bytes.removeLast(bytes.count - bytes.count / 2) }
        try end(fault, operation)
        return bytes
    }

    package func length(of name: ObjectName) throws(ObjectStoreError) -> UInt64? {
        let operation = naming("find", name)
        let fault = try begin(.length(name), operation)
        let length = state.withLock { ($0.objects[name]?.count).map(UInt64.init) }
        try end(fault, operation)
        return length
    }

    package func list(_ prefix: String, _ body: (ObjectEntry) throws -> Void) throws {
        let operation = namingList(prefix)
        let fault = try begin(.list(prefix), operation)
        var entries = state.withLock { state in
            state.objects.filter { $0.key.text.hasPrefix(prefix) }
                .map { ObjectEntry(name: $0.key, length: UInt64($0.value.count)) }
        }
        entries.sort { $0.name < $1.name }
        if fault == .isCut { entries.removeLast(entries.count - entries.count / 2) }
        for entry in entries { try body(entry) }
        if fault == .isCut { throw ObjectStoreError(.unreachable, operation, "the connection broke") }
        try end(fault, operation)
    }

    package func delete(_ name: ObjectName) throws(ObjectStoreError) {
        let operation = naming("delete", name, "from")
        let fault = try begin(.delete(name), operation)
        guard allowsDeleting else { throw ObjectStoreError(.notAllowed, operation) }
        state.withLock { _ = $0.objects.removeValue(forKey: name) }
        try end(fault, operation)
    }

    package func close() { closing.close() }

    private func begin(_ call: Call, _ operation: String) throws(ObjectStoreError) -> Fault? {
        try closing.check(operation)
        let (number, choose) = state.withLock { state in
            state.calls.append(call)
            return (state.calls.count - 1, state.standing)
        }
        let fault = state.withLock { $0.faults[number] } ?? choose?(call)
        switch fault {
        case .fails(let code): throw ObjectStoreError(code, operation, "arranged by the test")
        case .hangs: try closing.pause(nil, operation)
        default: break
        }
        return fault
    }

    private func end(_ fault: Fault?, _ operation: String) throws(ObjectStoreError) {
        if fault == .answerLost { throw ObjectStoreError(.unreachable, operation, "the answer was lost") }
    }
}
