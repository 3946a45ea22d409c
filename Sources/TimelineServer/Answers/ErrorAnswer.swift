// The answers to requests that fail.

internal import ArchiveStorage
internal import ArchiverKit
internal import HTTPTypes
internal import Hummingbird

/// A request that is refused.
struct Refusal: Error {
    let status: Int
    let code: String
    let message: String
    let remedy: String?

    init(_ status: Int, _ code: String, _ message: String, remedy: String? = nil) {
        (self.status, self.code, self.message, self.remedy) = (status, code, message, remedy)
    }

    static func bad(_ message: String) -> Refusal { Refusal(400, "badRequest", message) }

    static func notFound(_ message: String) -> Refusal { Refusal(404, "notFound", message) }
}

struct ErrorAnswer: Encodable {
    struct Detail: Encodable {
        let message: String
        let remedy: String?
        let code: String
    }

    let error: Detail

    init(_ error: any Error) {
        self.error =
            switch error {
            case let refusal as Refusal:
                Detail(message: refusal.message, remedy: refusal.remedy, code: refusal.code)
            case let error as ArchiverError:
                Detail(message: error.message, remedy: error.remedy, code: error.code.rawValue)
            case let error as HTTPError:
                Detail(message: error.body ?? "no such address", remedy: nil, code: "http")
            default: Detail(message: "\(error)", remedy: nil, code: "system")
            }
    }

    static func response(_ error: any Error) -> Response {
        JSONAnswer.response(ErrorAnswer(error), status: status(of: error))
    }

    private static func status(of error: any Error) -> HTTPResponse.Status {
        switch error {
        case let refusal as Refusal: return .init(code: refusal.status)
        case let error as HTTPError: return error.status
        case let error as ArchiverError:
            switch error.code {
            case .noSuchSnapshot, .noSuchPath, .noSuchDirectory: return .notFound
            case .nothingToUndo, .nothingToRedo, .locked, .inUse, .otherRoot, .notDirectory: return .conflict
            case .malformedSelector, .ambiguousSelector, .unsuitable, .unsuitableSettings: return .badRequest
            case .readOnly, .permission: return .forbidden
            default: return .internalServerError
            }
        default: return .internalServerError
        }
    }
}
