// The page's own files, which are embedded in the program.

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

struct PageRoutes {
    func add(to router: some RouterMethods<BasicRequestContext>) {
        router.get("/") { _, _ in try PageRoutes.file("index.html") }
        router.get("/:file") { _, route in try PageRoutes.file(route.parameters.require("file")) }
    }

    private static func file(_ name: String) throws -> Response {
        guard let bytes = PageFiles.all[name] else { throw Refusal.notFound("there is no page '\(name)'") }
        return Response(
            status: .ok, headers: [.contentType: kind(of: name), .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func kind(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/json; charset=utf-8"
        }
    }
}
