// Why a command could not do what it was asked to: one line a person can act on, and the exit status.

internal import ArchiverKit
internal import FileIO

/// The end of a command that could not do its work.
struct Failure: Error {
    let status: ExitStatus
    /// A word for programs: the library's code, or `usage`.
    let code: String
    /// One line without a full stop that names the thing.
    let message: String
    /// One line: what to do about it.
    var remedy: String?
    var path: [UInt8]?
    /// What an ambiguous selector may mean.
    var candidates: [Selected] = []
}

extension Failure {
    init(_ error: ArchiverError) {
        self.init(
            status: ExitStatus(error.code), code: error.code.rawValue, message: error.message, remedy: error.remedy,
            path: error.path?.bytes, candidates: error.candidates)
    }

    init(_ error: FileError) {
        self.init(
            status: .failed, code: "system", message: error.description, remedy: error.remedy,
            path: error.path.bytes)
    }

    /// The command line asks for something that makes no sense.
    static func usage(_ message: String, remedy: String? = nil) -> Failure {
        Failure(status: .usage, code: "usage", message: message, remedy: remedy)
    }

    /// What the command was asked to work on does not suit it.
    static func unsuitable(_ message: String, remedy: String? = nil, path: [UInt8]? = nil) -> Failure {
        Failure(status: .failed, code: "unsuitable", message: message, remedy: remedy, path: path)
    }

    /// An error that a command ended with; nil where that is the parser's.
    init?(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as ArchiverError: self.init(error)
        case let error as FileError: self.init(error)
        default: return nil
        }
    }
}
