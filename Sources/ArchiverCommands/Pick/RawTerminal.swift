// Reads keys from the controlling terminal, even if stdin and stdout are redirected.

internal import CLinux
internal import FileIO
internal import Glibc
internal import SystemPackage

/// A key that was pressed.
enum Key: Equatable {
    case up, down, pageUp, pageDown, home, end
    case enter, escape, backspace
    case text(String)
}

/// The controlling terminal without echo and line editing, on the alternate screen until `close` (termios(3)).
final class RawTerminal {
    private let descriptor: Descriptor
    /// Restores the terminal.
    let ending: Ending

    /// The maximum time in milliseconds between the bytes of one key.
    private static let keyMilliseconds: CInt = 50

    /// - Throws: `FileError` if there is no terminal.
    init() throws(FileError) {
        descriptor = try Descriptor.open("/dev/tty", O_RDWR)
        var former = termios()
        guard tcgetattr(descriptor.number, &former) == 0 else { throw FileError("use", "/dev/tty", .current) }
        ending = Ending(number: descriptor.number, former: former)
        var raw = former
        cfmakeraw(&raw)
        // TCSADRAIN keeps what was typed ahead.
        guard tcsetattr(descriptor.number, TCSADRAIN, &raw) == 0 else { throw FileError("use", "/dev/tty", .current) }
        // xterm's alternate screen, as in less and vi.
        write("\u{1B}[?1049h\u{1B}[?25l")
    }

    /// Restores the terminal's former state; any thread can do that while the terminal is open.
    struct Ending: Sendable {
        fileprivate let number: CInt
        fileprivate let former: termios

        func restore() {
            RawTerminal.write("\u{1B}[?25h\u{1B}[?1049l", to: number)
            var former = former
            tcsetattr(number, TCSAFLUSH, &former)
        }
    }

    func close() { ending.restore() }

    var size: (rows: Int, columns: Int) {
        var size = winsize()
        guard ioctl(descriptor.number, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
            return (24, 80)
        }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Shows `lines`, one per row.
    func show(_ lines: [String]) {
        write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// Waits for a key.
    ///
    /// - Returns: nil if the terminal was closed.
    func key() -> Key? {
        while let byte = byte() {
            switch byte {
            case 0x0D, 0x0A: return .enter
            case 0x7F, 0x08: return .backspace
            // Ctrl-C, Ctrl-D, Ctrl-G.
            case 0x03, 0x04, 0x07: return .escape
            case 0x0E: return .down
            case 0x10: return .up
            case 0x1B: if let key = sequence() { return key }
            case 0x20...: if let text = character(byte) { return .text(text) }
            default: break
            }
        }
        return nil
    }

    /// The key of an escape sequence; nil for a key that is not used here.
    private func sequence() -> Key? {
        guard hasMore, let first = byte() else { return .escape }
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else { return .escape }
        guard var last = byte() else { return nil }
        var number = 0
        while (UInt8(ascii: "0")...UInt8(ascii: ";")).contains(last), hasMore, let next = self.byte() {
            number = min(number, 100) * 10 + Int(last) - 0x30
            last = next
        }
        switch last {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch number {
            case 1, 7: return .home
            case 4, 8: return .end
            case 5: return .pageUp
            case 6: return .pageDown
            default: return nil
            }
        default: return nil
        }
    }

    /// The character that begins with `first`; nil if it is not UTF-8.
    private func character(_ first: UInt8) -> String? {
        var bytes = [first]
        let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        while bytes.count < length, hasMore, let next = byte() { bytes.append(next) }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Whether a key can be read without waiting.
    var hasKey: Bool { hasInput(within: 0) }

    private var hasMore: Bool { hasInput(within: RawTerminal.keyMilliseconds) }

    private func hasInput(within milliseconds: CInt) -> Bool {
        var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }

    private func byte() -> UInt8? {
        var byte: UInt8 = 0
        let number = descriptor.number
        return retryingInterrupts { read(number, &byte, 1) } == 1 ? byte : nil
    }

    private func write(_ text: String) { RawTerminal.write(text, to: descriptor.number) }

    private static func write(_ text: String, to number: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { bytes in
                retryingInterrupts { Glibc.write(number, bytes.baseAddress, bytes.count) }
            }
            // A closed terminal is noticed when the next key is read.
            if written <= 0 { return }
            rest = rest.dropFirst(written)
        }
    }
}
