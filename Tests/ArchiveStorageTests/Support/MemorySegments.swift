// Segments in memory, with injected faults and simulated power failures.

import ArchiveFormat
import ArchiveStorage
import SystemPackage
import TestSupport
import Threading

/// A segment store in memory.
///
/// It counts its calls. One call, or all from one on, can be made to fail, and the durable contents after each call can
/// be inspected.
final class MemorySegments: SegmentStore {
    /// Which calls fail.
    enum Failing: Sendable {
        case none
        case one(Int)
        case from(Int)

        func concerns(_ call: Int) -> Bool {
            switch self {
            case .none: false
            case .one(let number): call == number
            case .from(let number): call >= number
            }
        }
    }

    private struct State {
        var files: [String: MemoryFile] = [:]
        var calls = 0
        var failing = Failing.none
        var afterCall: (Int, [String: MemoryFile]) -> Void = { _, _ in }
    }

    private let state: Locked<State>

    /// - Parameter files: the initial segments.
    init(_ files: [String: MemoryFile] = [:]) {
        state = Locked(State(files: files))
    }

    var calls: Int { state.withLock { $0.calls } }

    func fail(_ failing: Failing) { state.withLock { $0.failing = failing } }

    /// Calls `body` after each call of the store; its argument has the live segments, not copies.
    func afterEachCall(_ body: @escaping @Sendable (Int, [String: MemoryFile]) -> Void) {
        state.withLock { $0.afterCall = body }
    }

    /// Counts a call, then does its work or fails.
    ///
    /// - Parameter half: the part of the work that a failing call does.
    fileprivate func call<Result>(
        _ path: FilePath, half: () -> Void = {}, _ work: () -> Result
    ) throws(StorageError) -> Result {
        let (number, fails) = state.withLock { state in
            state.calls += 1
            return (state.calls, state.failing.concerns(state.calls))
        }
        if fails {
            half()
            throw StorageError(.system, path, "call \(number) of the store was made to fail")
        }
        let result = work()
        state.withLock { state in state.afterCall(number, state.files) }
        return result
    }

    private var root: FilePath { "memory" }

    func prepare() throws(StorageError) { try call(root) {} }

    func path(of name: String) -> FilePath { root.appending(name) }

    func freeBytes() -> Int? { nil }

    func totalBytes() -> Int? { nil }

    func list() throws(StorageError) -> SegmentListing {
        try call(root) {
            var listing = SegmentListing()
            listing.segments = state.withLock { $0.files.keys.sorted() }
            return listing
        }
    }

    func note(begun names: [SegmentName]) {}

    func length(of name: String) -> Int? {
        (try? call(path(of: name)) { state.withLock { $0.files[name] }?.content.count }) ?? nil
    }

    func open(_ name: String) throws(StorageError) -> any SegmentReading { try openToWrite(name) }

    func openToWrite(_ name: String) throws(StorageError) -> any SegmentBytes {
        let path = path(of: name)
        guard let file = try call(path, { state.withLock { $0.files[name] } }) else {
            throw StorageError(.damaged, path, "segment \(path) is missing")
        }
        return MemorySegment(self, name, file)
    }

    func create(_ name: SegmentName, _ bytes: [UInt8]) throws(StorageError) -> (any SegmentBytes)? {
        let file = MemoryFile(bytes)
        try call(path(of: name.path)) { state.withLock { $0.files[name.path] = file } }
        let segment = MemorySegment(self, name.path, file)
        return try segment.tryLock() ? segment : nil
    }

    func remove(_ name: String, pausing pause: (() throws(StorageError) -> Void)?) throws(StorageError) {
        try pause?()
        try call(path(of: name)) { state.withLock { $0.files[name] = nil } }
    }

    func removeUnfinished(_ name: String) {}

    fileprivate func holds(_ file: MemoryFile, as name: String) -> Bool { state.withLock { $0.files[name] === file } }
}

/// A segment's contents, and the durable part of them.
final class MemoryFile: Sendable {
    private enum Change {
        case write([UInt8], at: Int)
        case truncate(Int)
    }

    private struct State {
        var content: [UInt8]
        var durable: [UInt8]
        /// The changes that turn `durable` into `content`.
        var changes: [Change] = []
        var owner: ObjectIdentifier?
    }

    private let state: Locked<State>

    init(_ content: [UInt8]) { state = Locked(State(content: content, durable: content)) }

    var content: [UInt8] { state.withLock { $0.content } }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let length): bytes.removeSubrange(min(length, bytes.count)...)
        case .write(let new, let offset):
            let end = offset + new.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: new)
        }
    }

    private func make(_ change: Change) {
        state.withLock { state in
            MemoryFile.apply(change, to: &state.content)
            state.changes.append(change)
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) { make(.write(bytes, at: offset)) }

    func truncate(to length: Int) { make(.truncate(length)) }

    func synchronize() {
        state.withLock { state in
            state.durable = state.content
            state.changes = []
        }
    }

    /// The contents after a power failure: the durable ones, with a random subset of the later changes in random order.
    func survivor(_ random: inout SeededGenerator) -> MemoryFile {
        var (bytes, changes) = state.withLock { ($0.durable, $0.changes) }
        for change in changes.shuffled(using: &random) where !random.oneIn(3) {
            MemoryFile.apply(change, to: &bytes)
        }
        changes = []
        return MemoryFile(bytes)
    }

    func lock(for owner: ObjectIdentifier) -> Bool {
        state.withLock { state in
            if state.owner == nil { state.owner = owner }
            return state.owner == owner
        }
    }

    func unlock(for owner: ObjectIdentifier) {
        state.withLock { state in
            if state.owner == owner { state.owner = nil }
        }
    }
}

/// An open segment in memory.
private final class MemorySegment: SegmentBytes {
    private let store: MemorySegments
    private let name: String
    private let file: MemoryFile

    init(_ store: MemorySegments, _ name: String, _ file: MemoryFile) {
        self.store = store
        self.name = name
        self.file = file
    }

    deinit { file.unlock(for: ObjectIdentifier(self)) }

    var path: FilePath { store.path(of: name) }

    func length() throws(StorageError) -> Int { try store.call(path) { file.content.count } }

    var isRemoved: Bool { !store.holds(file, as: name) }

    func isInPlace() throws(StorageError) -> Bool { try store.call(path) { store.holds(file, as: name) } }

    func tryLock() throws(StorageError) -> Bool { try store.call(path) { file.lock(for: ObjectIdentifier(self)) } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int {
        try store.call(path) {
            let bytes = file.content.dropFirst(offset).prefix(buffer.count)
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }

    func nextData(from offset: Int, below end: Int) throws(StorageError) -> Range<Int>? {
        try store.call(path) {
            let end = min(end, file.content.count)
            return offset < end ? offset..<end : nil
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try store.call(path, half: { file.write(Array(bytes.prefix(bytes.count / 2)), at: offset) }) {
            file.write(bytes, at: offset)
        }
    }

    func truncate(to length: Int) throws(StorageError) { try store.call(path) { file.truncate(to: length) } }

    func synchronize() throws(StorageError) { try store.call(path) { file.synchronize() } }

    func beginWriting(_ range: Range<Int>) {}
}
