// Ends the program when it misuses the patterns.

internal import Glibc

/// Prints the mistake and aborts.
///
/// `preconditionFailure` would print nothing in optimised builds.
func endProgram(because mistake: String) -> Never {
    let line = Array("Mementos: \(mistake)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
}
