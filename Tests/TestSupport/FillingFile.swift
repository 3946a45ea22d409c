// Files that only take the room of a disk.

internal import Foundation
internal import Glibc

/// Gives back the room of a file, then removes it.
///
/// Without the first step the room may come back later: a program that another test is just starting has a copy of each
/// open file of this process, until it is executed.
///
/// - Parameter path: the file; it is missing afterwards.
/// - Throws: if it cannot be removed.
package func removeFilling(_ path: String) throws {
    _ = truncate(path, 0)
    try FileManager.default.removeItem(atPath: path)
}
