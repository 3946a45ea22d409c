// A program's output as lines, awaited one by one or taken in bulk.

import Foundation
import Glibc
import Threading

/// The reading end of a program's output.
final class ProgramOutput: Sendable {
    private struct State {
        /// The whole output so far.
        var text: [UInt8] = []
        /// Where the next line that was not returned yet begins.
        var position = 0
        var hasEnded = false
        var waiter: CheckedContinuation<String?, Never>?

        mutating func takeLine() -> String? {
            guard let end = text[position...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { position = end + 1 }
            return String(decoding: text[position..<end], as: UTF8.self)
        }
    }

    private let file: FileHandle
    private let state = Locked(State())

    init(_ file: FileHandle) {
        self.file = file
        _ = fcntl(file.fileDescriptor, F_SETFL, O_NONBLOCK)
    }

    /// Reads until the end, on a thread of its own, so that the program never waits for room in the pipe.
    func startReading() {
        Thread.detachNewThread { [self] in
            var wait = pollfd(fd: file.fileDescriptor, events: Int16(POLLIN), revents: 0)
            while state.withLock({ !$0.hasEnded }) {
                _ = poll(&wait, 1, -1)
                answer()
            }
        }
    }

    var text: String { state.withLock { String(decoding: $0.text, as: UTF8.self) } }

    /// The next line; nil after the end.
    func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = continuation }
            answer()
        }
    }

    /// The lines that are in the pipe or were read before, and were not returned yet.
    func takeLines() -> [String] {
        state.withLock { state in
            read(&state)
            var lines: [String] = []
            while let line = state.takeLine() { lines.append(line) }
            return lines
        }
    }

    /// Reads the pipe, and passes a line to the waiter if there is one.
    private func answer() {
        let (waiter, line): (CheckedContinuation<String?, Never>?, String?) = state.withLock { state in
            read(&state)
            guard let waiter = state.waiter else { return (nil, nil) }
            let line = state.takeLine()
            guard line != nil || state.hasEnded else { return (nil, nil) }
            state.waiter = nil
            return (waiter, line)
        }
        waiter?.resume(returning: line)
    }

    /// Reads what is in the pipe.
    private func read(_ state: inout State) {
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while !state.hasEnded {
            let count = Glibc.read(file.fileDescriptor, &block, block.count)
            if count > 0 { state.text += block[..<count] }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return }
            state.hasEnded = count <= 0
        }
    }
}
