// A file in an archive's directory that holds one value, as JSON: settings, notices, lists.

package import FileIO
internal import Glibc
internal import SystemPackage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The place of a value that is stored as JSON.
package struct JSONFile<Value: Codable>: Sendable {
    package let place: EnclosedPath
    /// What is in the file, for the message if it is damaged: "it lists the segments that …".
    private let meaning: String
    private let remedy: String?
    /// The most bytes that are read.
    private let byteLimit: Int

    package init(_ place: EnclosedPath, _ meaning: String, remedy: String? = nil, byteLimit: Int = 1 << 20) {
        (self.place, self.meaning, self.remedy, self.byteLimit) = (place, meaning, remedy, byteLimit)
    }

    /// The value; nil if there is no file.
    ///
    /// - Throws: `StorageError` with the code `damaged` if the file holds something else.
    package func read() throws(StorageError) -> Value? {
        let bytes: [UInt8]
        do { bytes = try place.open(O_RDONLY).readToEnd(limit: byteLimit, path: place.path) } catch {
            if error.code == .noSuchFileOrDirectory { return nil }
            throw StorageError(error)
        }
        guard let value = try? JSONDecoder().decode(Value.self, from: Data(bytes)) else { throw damage }
        return value
    }

    /// The error for a file whose content is wrong.
    package var damage: StorageError {
        StorageError(.damaged, place.path, "\(place.path) is damaged: \(meaning)", remedy: remedy)
    }

    /// Stores the value durably, in place of an earlier one.
    package func write(_ value: Value) throws(StorageError) {
        let bytes = try encoded(value)
        try storing { () throws(FileError) in try DurableFile.replace(place, contents: bytes) }
    }

    /// Stores the value durably.
    ///
    /// - Returns: false if there is a file.
    package func create(_ value: Value) throws(StorageError) -> Bool {
        let bytes = try encoded(value)
        do { try DurableFile.create(place, contents: bytes) } catch {
            if error.code == .fileExists { return false }
            throw StorageError(error)
        }
        return true
    }

    private func encoded(_ value: Value) throws(StorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")] } catch {
            // As for a number that JSON cannot express.
            throw StorageError(.system, place.path, "cannot write \(place.path): \(error)")
        }
    }
}
