// JSON in responses and requests.

internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

enum JSONAnswer {
    static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        let bytes =
            (try? bytes(of: value))
            ?? Array(#"{"error":{"message":"the answer cannot be encoded","code":"system"}}"#.utf8)
        return Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Returns a value as one line of JSON.
    static func bytes(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Returns the value in a request's body.
    static func value<Value: Decodable>(_ type: Value.Type, of request: Request) async throws -> Value {
        let buffer: ByteBuffer
        do { buffer = try await request.body.collect(upTo: TimelineServer.bodyLimit) } catch {
            throw Refusal(413, "tooLarge", "the request is longer than \(TimelineServer.bodyLimit) bytes")
        }
        do { return try JSONDecoder().decode(type, from: Data(buffer.readableBytesView)) } catch {
            throw Refusal.bad("the body does not have the expected fields")
        }
    }
}
