// The errors of saved states that programs see.

public import ArchiveFormat
internal import ArchiveStorage
public import Roots

/// Saving or loading a state failed; states saved before are unchanged.
public enum StateError: Error, Sendable {
    /// Nothing is saved under the title.
    case noSuchState(title: String)
    /// The title to rename to has states already.
    case titleTaken(title: String)
    /// The selector matches no state of the title, or several.
    case noSuchSelection(title: String, ArchiverError)
    /// The text cannot be a title: it is empty, has control characters, or begins like the titles of caches.
    case malformedTitle(String)
    /// This thread tried to save under the title while it is updating the title's state.
    case titleInUse(title: String)
    /// This thread holds the title `held` and asked for `title`, whose holder waits for `held`, or did not end in time.
    case titlesEntangled(title: String, held: String)
    /// The fetch of a cache's value asked for a value whose fetch waits for it.
    case fetchesEntangled(cache: String, key: String, fetched: String)
    /// The state cannot be encoded.
    case unencodable(title: String, cause: any Error)
    /// The saved state or the file does not hold the requested type; `type` is the one that was saved, nil for a file.
    case undecodable(StateSource, type: String?, cause: any Error)
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
        case .titleTaken(let title): "states are saved under the title '\(title)' already"
        case .malformedTitle(let title): "'\(title)' cannot be a title"
        case .titleInUse(let title): "the state of '\(title)' is being changed by the same thread"
        case .titlesEntangled(let title, let held):
            "the state of '\(title)' cannot be changed within an update of '\(held)': the update of '\(title)' waits for "
                + "'\(held)', or does not end"
        case .fetchesEntangled(let cache, let key, let fetched):
            key == fetched
                ? "the fetch of '\(key)' for the cache '\(cache)' asks for that value itself"
                : "the fetch of '\(fetched)' for the cache '\(cache)' asks for '\(key)', whose fetch waits for '\(fetched)'"
        case .unencodable(let title, let cause):
            "the state of '\(title)' cannot be encoded: \(StateError.words(cause))"
        case .undecodable(let source, let type, let cause):
            "\(source)\(type.map { ", a value of the type \($0)," } ?? "") cannot be decoded: "
                + StateError.words(cause)
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
        case .noSuchSelection: "the history of the title lists its states"
        case .titleTaken: "choose another title, or forget the states of that one first"
        case .malformedTitle:
            "a title must not be empty, have control characters, or begin with '\(StateCacheTitle.prefix)'"
        case .titleInUse: "change the state that the update passes in; save nothing under its title during the update"
        case .titlesEntangled: "nest updates in the same order everywhere, or update one title after the other"
        case .fetchesEntangled: "let the fetch get the value from its source"
        case .unencodable: "check how its type is encoded"
        case .undecodable: "a type that has changed needs a new version and a migration from the old one"
        case .newerVersion: "use a newer version of the program; the state stays as it is"
        case .noMigration: "add the migration to the type; the state stays as it is"
        case .failedMigration: "fix the migration; the state stays as it is"
        case .originator: nil
        case .file(let error), .archive(let error): error.remedy
        }
    }

    /// The error of a wait that was cancelled.
    static func cancelled(title: String) -> StateError {
        .archive(ArchiverError(.cancelled, "waiting for the state of '\(title)' was cancelled"))
    }

    /// The most keys and positions that a place in a state is shown with.
    private static let placeLimit = 16

    /// An encoding or decoding error in one line with its place.
    private static func words(_ error: any Error) -> String {
        let (path, description): ([any CodingKey], String)
        switch error {
        case EncodingError.invalidValue(_, let context):
            (path, description) = (context.codingPath, context.debugDescription)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
            (path, description) = (context.codingPath, context.debugDescription)
        default: return "\(error)"
        }
        let place = StateSource.place(Array(path.prefix(placeLimit))) + (path.count > placeLimit ? "…" : "")
        return place.isEmpty ? description : "at \(place): \(description)"
    }
}

/// Runs `body` and converts the archive's errors to `StateError`.
package func stating<Result>(_ body: () async throws -> Result) async throws(StateError) -> Result {
    do { return try await body() } catch {
        throw error as? StateError ?? .archive(ArchiverError(any: error))
    }
}

/// Runs `body` and converts the archive's errors to `StateError`.
package func stating<Result>(_ body: () throws -> Result) throws(StateError) -> Result {
    do { return try body() } catch {
        throw error as? StateError ?? .archive(ArchiverError(any: error))
    }
}
