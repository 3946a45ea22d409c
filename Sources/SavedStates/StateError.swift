// The errors of saved states that programs see.

public import ArchiveFormat
internal import ArchiveStorage
public import Roots

/// Saving or loading a state failed; states saved before are unchanged.
public enum StateError: Error, Sendable {
    /// Nothing is saved under the title.
    case noSuchState(title: String)
    /// The selector matches no state of the title, or several.
    case noSuchSelection(title: String, ArchiverError)
    /// The text cannot be a title: it is empty or has control characters.
    case malformedTitle(String)
    /// This thread tried to save under the title while it is updating the title's state.
    case titleInUse(title: String)
    /// The state cannot be encoded.
    case unencodable(title: String, cause: any Error)
    /// The saved state or the file does not hold the requested type.
    case undecodable(StateSource, cause: any Error)
    /// The state was saved by a newer version of the program; it is unchanged.
    case newerVersion(StateSource, version: Int, known: Int)
    /// No migrations lead from the state's version to the type's.
    case noMigration(StateSource, from: Int, to: Int)
    /// A migration failed.
    case failedMigration(StateSource, from: Int, cause: any Error)
    /// The originator could not capture or restore its state.
    case originator(title: String, cause: any Error)
    /// A state file cannot be read or written.
    case file(ArchiverError)
    /// The archive failed.
    case archive(ArchiverError)
}

/// The source of a state.
public enum StateSource: Sendable, Hashable {
    /// A state in the archive.
    case saved(StateID, title: String)
    /// A file.
    case file(String)
    /// A part of a state, named by the keys and list positions that lead to it, joined by dots.
    indirect case part(String, of: StateSource)
}

extension StateSource {
    func part(at path: [any CodingKey]) -> StateSource {
        path.isEmpty ? self : .part(StateSource.place(path), of: self)
    }

    fileprivate static func place(_ path: [any CodingKey]) -> String {
        path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
    }
}

extension StateSource: CustomStringConvertible {
    public var description: String {
        switch self {
        case .saved(let id, let title): "the state \(id.short) of '\(title)'"
        case .file(let path): "the state in \(path)"
        case .part(let place, let whole): "the part \(place) of \(whole)"
        }
    }
}

extension StateError: CustomStringConvertible {
    public var description: String { remedy.map { "\(message); \($0)" } ?? message }

    /// What happened, in one line.
    public var message: String {
        switch self {
        case .noSuchState(let title): "no state is saved under the title '\(title)'"
        case .noSuchSelection(let title, let error): "\(error.message), among the states of '\(title)'"
        case .malformedTitle(let title): "'\(title)' cannot be a title"
        case .titleInUse(let title): "the state of '\(title)' is being changed by the same thread"
        case .unencodable(let title, let cause): "the state of '\(title)' cannot be encoded: \(cause)"
        case .undecodable(let source, let cause): "\(source) cannot be decoded: \(StateError.words(cause))"
        case .newerVersion(let source, let version, let known):
            "\(source) has version \(version), but this program knows versions only up to \(known)"
        case .noMigration(let source, let from, let to):
            "\(source) has version \(from), and no migrations lead from it to version \(to)"
        case .failedMigration(let source, let from, let cause):
            "\(source) cannot be migrated from version \(from): \(StateError.words(cause))"
        case .originator(let title, let cause): "the originator of '\(title)' failed: \(cause)"
        case .file(let error), .archive(let error): error.message
        }
    }

    /// What to do about it, in one line.
    public var remedy: String? {
        switch self {
        case .noSuchState: "save one first, or load with a starting state"
        case .noSuchSelection: "'archiver list --states' shows all states"
        case .malformedTitle: "a title must not be empty or have control characters"
        case .titleInUse: "change the state that the update passes in; save nothing under its title during the update"
        case .unencodable: "check how its type is encoded"
        case .undecodable: "a type that has changed needs a new version and a migration from the old one"
        case .newerVersion: "use a newer version of the program; the state stays as it is"
        case .noMigration: "add the migration to the type; the state stays as it is"
        case .failedMigration: "fix the migration; the state stays as it is"
        case .originator: nil
        case .file(let error), .archive(let error): error.remedy
        }
    }

    /// A decoding error in one line with its place.
    private static func words(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        let context: DecodingError.Context? =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: nil
            }
        guard let context else { return "\(error)" }
        let place = StateSource.place(context.codingPath)
        return place.isEmpty ? context.debugDescription : "at \(place): \(context.debugDescription)"
    }
}

/// Runs `body` and converts the archive's errors to `StateError`.
package func stating<Result>(_ body: () throws -> Result) throws(StateError) -> Result {
    do { return try body() } catch {
        throw error as? StateError ?? .archive(ArchiverError(any: error))
    }
}
