// Adapts callbacks: the library's stop a visit by returning false, the commands' by throwing.

/// Calls `visit` with `body`; if `body` throws, the visit stops and the error is rethrown.
func visiting<Item>(_ visit: ((Item) -> Bool) throws -> Void, _ body: (Item) throws -> Void) throws {
    var failure: (any Error)?
    try withoutActuallyEscaping(body) { body in
        try visit { item in
            do {
                try body(item)
                return true
            } catch {
                failure = error
                return false
            }
        }
    }
    if let failure { throw failure }
}
