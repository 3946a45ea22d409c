// The end of a program that uses the patterns in a way that can have no meaning.

internal import Glibc

/// Ends the program with words, also where it is optimised: `preconditionFailure` is silent there.
func endProgram(because mistake: String) -> Never {
    let line = Array("Mementos: \(mistake)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
}
