// The log of a page: a line per request.

internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Threading

/// Logs requests: what changes something, what fails, and, at the level `debug`, all others.
///
/// Anyone on the machine can send requests that are refused, so these take one line a minute at most. Paths name routes,
/// never files: what is asked about is in the query and the body, which are not logged.
struct RequestLog: Sendable {
    private let logger: Logger
    private let refused = Refusals()

    /// Longer paths are cut off: they are nobody's.
    private static let pathLimit = 100

    init(_ logger: Logger) { self.logger = logger }

    func add(
        _ request: Request, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant,
        _ error: (any Error)? = nil
    ) {
        let now = ContinuousClock.now
        var level: Logger.Level = request.method == .post ? .info : .debug
        var fields: Logger.Metadata = [:]
        switch status.code {
        case 500...: level = .error
        case 401, 403, 421:
            level = .notice
            guard let unsaid = refused.add(at: now) else { return }
            if unsaid > 0 { fields["unsaid"] = .stringConvertible(unsaid) }
        default: break
        }
        guard level >= logger.logLevel else { return }
        fields["method"] = .string(String(request.method.rawValue.prefix(RequestLog.pathLimit)))
        fields["route"] = .string(String(request.uri.path.prefix(RequestLog.pathLimit)))
        fields["status"] = .stringConvertible(status.code)
        fields["milliseconds"] = .stringConvertible(Int64(((now - start) / .milliseconds(1)).rounded()))
        if let error { fields["text"] = .string(ErrorAnswer(error).error.message) }
        logger.log(level: level, "request", metadata: fields)
    }
}

/// Decides which refusals are said.
private final class Refusals: Sendable {
    private static let pause = Duration.seconds(60)
    private let state = Locked((said: ContinuousClock.Instant?.none, unsaid: 0))

    /// - Returns: how many were not said since the last one that was; nil if this one is not said either.
    func add(at now: ContinuousClock.Instant) -> Int? {
        state.withLock { state in
            if let said = state.said, now - said < Refusals.pause {
                state.unsaid += 1
                return nil
            }
            defer { state = (now, 0) }
            return state.unsaid
        }
    }
}
