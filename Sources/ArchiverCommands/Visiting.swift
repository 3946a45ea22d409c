// The library's callbacks stop by returning false; the commands' stop by throwing.

/// Calls `visit` with a callback that stops it when `body` throws, and then throws that error.
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
