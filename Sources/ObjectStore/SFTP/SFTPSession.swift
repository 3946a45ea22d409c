// A conversation with an SFTP server through a program, normally ssh.

internal import CLinux
internal import FileIO
internal import Glibc
internal import Programs
internal import SystemPackage

/// A running program that speaks SFTP on its stdin and stdout; one thread uses it at a time.
final class SFTPSession {
    /// An error of the server, of the way to it, or of the source of an object.
    struct Failure: Error {
        /// nil: the session cannot be used any more.
        let status: SFTPMessage.Status?
        let code: ObjectStoreError.Code
        let message: String
    }

    /// The connection is a pair of sockets, so that a write after the program's end is an error and no signal.
    private let connection: Descriptor
    private let program: ChildProgram
    private let errors: Descriptor
    private var nextID: UInt32 = 0
    private var extensions: [String: String] = [:]

    /// How long a server may be silent.
    private static let silenceSeconds = 60
    /// The longest message that is accepted from a server; OpenSSH sends up to 256 KiB.
    private static let messageLimit: UInt32 = 1 << 20
    /// The bytes in a request to read or write; every server accepts this many.
    private static let pieceBytes: UInt64 = 32 << 10
    /// The requests that are sent before their answers have come.
    private static let window = 64

    /// Starts the program and agrees on the version.
    init(_ command: [String], _ closing: StoreClosing, _ operation: String) throws(Failure) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(status: nil, code: .failed, message: Errno.current.description)
        }
        connection = Descriptor(owning: ends[0])
        let other = Descriptor(owning: ends[1])
        let memory = clinux_memory_file()
        guard memory >= 0 else { throw Failure(status: nil, code: .failed, message: Errno.current.description) }
        errors = Descriptor(owning: memory)
        var limit = timeval(tv_sec: SFTPSession.silenceSeconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(connection.number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        do throws(FileError) {
            program = try ChildProgram(
                command.map { Array($0.utf8) }, input: other.number, output: other.number, error: errors.number,
                leadsGroup: true)
        } catch {
            throw Failure(status: nil, code: .notSupported, message: "\(error)")
        }
        // The program has the other end; here it is closed, so that the program's end is noticed.
        _ = consume other
        try closing.waking({ [number = connection.number] in _ = shutdown(number, CInt(SHUT_RDWR)) }) {
            () throws(Failure) in
            var hello = SFTPMessage(.start)
            hello.append(UInt32(3))
            try send([hello])
            var fields = SFTPFields(try receive())
            do {
                guard try fields.byte() == SFTPMessage.Kind.version.rawValue, try fields.number() >= 3 else {
                    throw SFTPFields.Missing()
                }
                while !fields.isEmpty { extensions[try fields.text()] = try fields.text() }
            } catch { throw noSFTP }
        }
    }

    deinit {
        shutdown(connection.number, CInt(SHUT_RDWR))
        kill(program.id, SIGTERM)
        _ = program.wait()
    }

    /// The number of the connection, which may be shut down from another thread while this object exists.
    var number: CInt { connection.number }

    func supports(_ name: String) -> Bool { extensions[name] != nil }

    private var noSFTP: Failure { Failure(status: nil, code: .unexpectedAnswer, message: "this is no SFTP server") }

    // MARK: Messages

    private func send(_ messages: [SFTPMessage]) throws(Failure) {
        var bytes: [UInt8] = []
        for message in messages {
            let count = UInt32(message.bytes.count)
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> UInt32($0)) } + message.bytes
        }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                retryingInterrupts {
                    Glibc.send(
                        connection.number, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                        CInt(MSG_NOSIGNAL))
                }
            }
            if count <= 0 { throw broken() }
            done += count
        }
    }

    private func receive() throws(Failure) -> [UInt8] {
        let length = try receive(4).reduce(0) { $0 << 8 | UInt32($1) }
        guard length > 0, length <= SFTPSession.messageLimit else { throw noSFTP }
        return try receive(Int(length))
    }

    private func receive(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                retryingInterrupts {
                    recv(connection.number, buffer.baseAddress.map { $0 + done }, count - done, 0)
                }
            }
            if got <= 0 { throw broken() }
            done += got
        }
        return bytes
    }

    /// Why the connection ended, in the words of the program.
    private func broken() -> Failure {
        if Errno.current == .wouldBlock, !program.hasEnded {
            return Failure(
                status: nil, code: .unreachable, message: "no answer for \(SFTPSession.silenceSeconds) seconds")
        }
        var text = [UInt8](repeating: 0, count: 4096)
        let length = text.withUnsafeMutableBytes { pread(errors.number, $0.baseAddress, $0.count, 0) }
        let message = String(decoding: text.prefix(max(0, length)), as: UTF8.self)
            .split(whereSeparator: \.isNewline).joined(separator: "; ")
        let code: ObjectStoreError.Code =
            if message.contains("Permission denied") {
                .wrongCredentials
            } else if message.contains("Host key verification failed") || message.contains("IDENTIFICATION HAS CHANGED")
            { .tlsFailed } else { .unreachable }
        return Failure(status: nil, code: code, message: message.isEmpty ? "the connection broke" : message)
    }

    /// Makes a request of its own number.
    private func request(_ kind: SFTPMessage.Kind) -> SFTPMessage {
        nextID &+= 1
        var message = SFTPMessage(kind)
        message.append(nextID)
        return message
    }

    /// The next answer, which must be that to the request `id`: OpenSSH and others answer in order, but need not.
    private func answer(_ pending: inout [UInt32: [UInt8]], to id: UInt32) throws(Failure) -> (
        SFTPMessage.Kind, SFTPFields
    ) {
        while true {
            let bytes: [UInt8]
            if let waiting = pending.removeValue(forKey: id) {
                bytes = waiting
            } else {
                bytes = try receive()
            }
            var fields = SFTPFields(bytes)
            do {
                guard let kind = SFTPMessage.Kind(rawValue: try fields.byte()) else { throw SFTPFields.Missing() }
                let number = try fields.number()
                if number == id { return (kind, fields) }
                guard pending.count <= SFTPSession.window else { throw SFTPFields.Missing() }
                pending[number] = bytes
            } catch { throw noSFTP }
        }
    }

    private func ask(_ message: SFTPMessage) throws(Failure) -> (SFTPMessage.Kind, SFTPFields) {
        let id = nextID
        try send([message])
        var pending: [UInt32: [UInt8]] = [:]
        return try answer(&pending, to: id)
    }

    /// Throws the error of a status, unless it is OK.
    private func check(_ answer: (SFTPMessage.Kind, SFTPFields)) throws(Failure) {
        var (kind, fields) = answer
        do {
            guard kind == .statusAnswer else { throw SFTPFields.Missing() }
            let status = SFTPMessage.Status(rawValue: try fields.number()) ?? .failure
            if status == .ok { return }
            let message = (try? fields.text()) ?? ""
            let code: ObjectStoreError.Code =
                switch status {
                case .permissionDenied: .notAllowed
                case .noSuchFile: .noSuchObject
                case .notSupported: .notSupported
                case .noConnection, .connectionLost: .unreachable
                default: .failed
                }
            throw Failure(status: status, code: code, message: message)
        } catch let failure as Failure { throw failure } catch { throw noSFTP }
    }

    /// The fields of an answer of the kind `kind`; throws the error of a status.
    private func fields(
        _ answer: (SFTPMessage.Kind, SFTPFields), _ kind: SFTPMessage.Kind
    ) throws(Failure) -> SFTPFields {
        if answer.0 == kind { return answer.1 }
        try check(answer)
        throw noSFTP
    }

    private func decoding<Result>(_ body: () throws(SFTPFields.Missing) -> Result) throws(Failure) -> Result {
        do { return try body() } catch { throw noSFTP }
    }

    // MARK: Operations

    func attributes(_ path: String, followingLinks: Bool = false) throws(Failure) -> SFTPFields.Attributes? {
        var message = request(followingLinks ? .status : .linkStatus)
        message.append(path)
        do throws(Failure) {
            var fields = try fields(ask(message), .attributesAnswer)
            return try decoding { () throws(SFTPFields.Missing) in try fields.attributes() }
        } catch {
            if error.status == .noSuchFile { return nil }
            throw error
        }
    }

    func open(_ path: String, _ flags: UInt32, permissions: UInt32? = nil) throws(Failure) -> [UInt8] {
        var message = request(.open)
        message.append(path)
        message.append(flags)
        if let permissions { message.append(permissions: permissions) } else { message.appendNoAttributes() }
        var fields = try fields(ask(message), .handleAnswer)
        return try decoding { () throws(SFTPFields.Missing) in try fields.content() }
    }

    func close(_ handle: [UInt8]) throws(Failure) {
        var message = request(.close)
        message.append(handle)
        try check(ask(message))
    }

    func remove(_ path: String) throws(Failure) {
        var message = request(.remove)
        message.append(path)
        try check(ask(message))
    }

    func makeDirectory(_ path: String) throws(Failure) {
        var message = request(.makeDirectory)
        message.append(path)
        message.append(permissions: 0o700)
        try check(ask(message))
    }

    /// Renames; version 3 replaces nothing.
    func rename(_ path: String, to new: String) throws(Failure) {
        var message = request(.rename)
        message.append(path)
        message.append(new)
        try check(ask(message))
    }

    /// Calls an extension whose only answer is a status.
    func extended(_ name: String, _ arguments: [[UInt8]]) throws(Failure) {
        var message = request(.extended)
        message.append(name)
        for argument in arguments { message.append(argument) }
        try check(ask(message))
    }

    /// The bytes that are free for this user; nil if the server cannot tell (statvfs@openssh.com).
    func freeBytes(_ path: String) -> UInt64? {
        guard supports("statvfs@openssh.com") else { return nil }
        var message = request(.extended)
        message.append("statvfs@openssh.com")
        message.append(path)
        guard var fields = try? fields(ask(message), .extendedAnswer) else { return nil }
        var numbers: [UInt64] = []
        while numbers.count < 5, let number = try? fields.large() { numbers.append(number) }
        return numbers.count == 5 ? numbers[1].multipliedReportingOverflow(by: numbers[4]).partialValue : nil
    }

    /// Writes the bytes of `source` to an open file; several requests are on the way at a time.
    func write(_ source: any ObjectSource, to handle: [UInt8], _ operation: String) throws(Failure) {
        var sent: [UInt32] = []
        var pending: [UInt32: [UInt8]] = [:]
        var position: UInt64 = 0
        // The answers that are on the way must not be taken for later ones.
        func failing(_ failure: Failure) throws(Failure) {
            for id in sent { _ = try answer(&pending, to: id) }
            throw failure
        }
        while position < source.length || !sent.isEmpty {
            if position < source.length, sent.count < SFTPSession.window {
                let range = position..<min(source.length, position + source.pieceBytes)
                var piece: [UInt8] = []
                do throws(ObjectStoreError) { piece = try source.piece(range, operation) } catch {
                    try failing(Failure(status: .failure, code: error.code, message: error.detail))
                }
                for start in stride(from: 0, to: piece.count, by: Int(SFTPSession.pieceBytes)) {
                    var message = request(.write)
                    message.append(handle)
                    message.append(position + UInt64(start))
                    message.append(piece[start..<min(piece.count, start + Int(SFTPSession.pieceBytes))])
                    sent.append(nextID)
                    try send([message])
                }
                position = range.upperBound
            } else {
                let id = sent.removeFirst()
                do throws(Failure) { try check(answer(&pending, to: id)) } catch {
                    guard error.status != nil else { throw error }
                    try failing(error)
                }
            }
        }
    }

    /// Reads `range` of an open file, as far as it goes; several requests are on the way at a time.
    func read(_ range: Range<UInt64>, of handle: [UInt8]) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var sent: [(id: UInt32, range: Range<UInt64>)] = []
        var pending: [UInt32: [UInt8]] = [:]
        var position = range.lowerBound
        var isEnded = false
        while !isEnded && position < range.upperBound || !sent.isEmpty {
            if !isEnded, position < range.upperBound, sent.count < SFTPSession.window {
                let part = position..<min(range.upperBound, position + SFTPSession.pieceBytes)
                try sendRead(part, of: handle, &sent)
                position = part.upperBound
                continue
            }
            let (id, part) = sent.removeFirst()
            let answer = try answer(&pending, to: id)
            guard answer.0 == .dataAnswer else {
                do throws(Failure) { try check(answer) } catch {
                    if error.status != .endOfFile {
                        for (id, _) in sent { _ = try self.answer(&pending, to: id) }
                        throw error
                    }
                }
                isEnded = true
                continue
            }
            var fields = answer.1
            let data = try decoding { () throws(SFTPFields.Missing) in try fields.content() }
            guard !data.isEmpty, data.count <= part.count else { throw noSFTP }
            if isEnded { continue }
            bytes += data
            guard data.count < part.count else { continue }
            // A server may give less than was asked for. What was asked for behind it is not used.
            for (id, _) in sent { _ = try self.answer(&pending, to: id) }
            sent = []
            position = part.lowerBound + UInt64(data.count)
        }
        return bytes
    }

    private func sendRead(
        _ range: Range<UInt64>, of handle: [UInt8], _ sent: inout [(id: UInt32, range: Range<UInt64>)]
    ) throws(Failure) {
        var message = request(.read)
        message.append(handle)
        message.append(range.lowerBound)
        message.append(UInt32(range.count))
        sent.append((nextID, range))
        try send([message])
    }

    /// The entries of a directory.
    func list(_ path: String) throws(Failure) -> [(name: String, attributes: SFTPFields.Attributes)] {
        var message = request(.openDirectory)
        message.append(path)
        var opened = try fields(ask(message), .handleAnswer)
        let handle = try decoding { () throws(SFTPFields.Missing) in try opened.content() }
        var entries: [(String, SFTPFields.Attributes)] = []
        while true {
            var message = request(.readDirectory)
            message.append(handle)
            do throws(Failure) {
                var fields = try fields(ask(message), .nameAnswer)
                try decoding { () throws(SFTPFields.Missing) in
                    for _ in 0..<(try fields.number()) {
                        let name = try fields.text()
                        _ = try fields.content()
                        entries.append((name, try fields.attributes()))
                    }
                }
            } catch {
                guard error.status == .endOfFile else { throw error }
                break
            }
        }
        try close(handle)
        return entries
    }
}
