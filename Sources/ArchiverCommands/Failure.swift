// The error of a command: one line that a person can act on, and the exit status.

internal import ArchiverKit
internal import FileIO

/// The error that ends a command.
struct Failure: Error {
    let status: ExitStatus
    /// A word for programs: the library's code, or `usage`.
    let code: String
    /// One line, without a full stop, that names what failed.
    let message: String
    /// One line: what to do about it.
    var remedy: String?
    var path: [UInt8]?
    /// The snapshots and states that an ambiguous selector matches.
    var candidates: [Selection] = []
}

extension Failure {
    init(_ error: ArchiverError) {
        self.init(
            status: ExitStatus(error.code), code: error.code.rawValue, message: error.message,
            remedy: CommandRemedy.text(error.remedy, path: error.path), path: error.path?.bytes,
            candidates: error.candidates)
    }

    init(_ error: FileError) {
        self.init(
            status: .failed, code: "system", message: error.description,
            remedy: CommandRemedy.text(error.remedy), path: error.path.bytes)
    }

    /// The failure for a wrong command line.
    static func usage(_ message: String, remedy: String? = nil) -> Failure {
        Failure(status: .usage, code: "usage", message: message, remedy: remedy)
    }

    /// The failure for an object that the command cannot work on.
    static func unsuitable(_ message: String, remedy: String? = nil, path: [UInt8]? = nil) -> Failure {
        Failure(status: .failed, code: "unsuitable", message: message, remedy: remedy, path: path)
    }

    /// The failure for a command's error; nil if the error is the parser's.
    init?(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as ArchiverError: self.init(error)
        case let error as FileError: self.init(error)
        default: return nil
        }
    }
}
