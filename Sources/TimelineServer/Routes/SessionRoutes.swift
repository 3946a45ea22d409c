// Opens sessions.

internal import ArchiverKit
internal import Hummingbird
internal import SystemPackage

struct SessionRoutes {
    let context: ServerContext

    /// The only address of the interface that needs no session.
    static let path = "/api/1/session"

    private struct Opening: Decodable {
        let token: String
    }

    private struct Opened: Encodable {
        let session: String
        let ticket: String
        let isReadOnly: Bool
        /// Why nothing can be changed; nil if it can.
        let readOnlyReason: String?
        let archive: String
    }

    func add(to api: RouterGroup<BasicRequestContext>) {
        api.post("session") { request, _ in
            let opening = try await JSONAnswer.value(Opening.self, of: request)
            guard let session = context.access.session(for: opening.token) else {
                throw Refusal(
                    401, "tokenUsed", "the address was used before, or belongs to another server",
                    remedy: "run 'archiver browse' again")
            }
            let reason = try await context.run { context.readOnlyReason }
            return JSONAnswer.response(
                Opened(
                    session: session, ticket: context.access.ticket, isReadOnly: reason != nil, readOnlyReason: reason,
                    archive: context.archive.directory.string))
        }
    }
}
