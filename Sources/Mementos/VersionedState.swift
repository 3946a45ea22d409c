// States whose type changes from one version of a program to the next.

/// A state type that can load states that older versions of the program saved.
///
/// A type that does not conform has version 1. An optional property, or one to which the type's own decoding gives a
/// default, can be added without a new version. Every other renaming, addition, removal or change of type needs a new
/// version:
///
///     struct Game: VersionedState, Codable {
///         var attempts = 0, level = 1, score = 0
///
///         static let version = 2
///         static let migrations = [Migration(from: 1) { $0.rename("points", to: "score") }]
///     }
///
/// A versioned type is also migrated if it is a part of a state: an item of a list, a value of a dictionary, an
/// optional, a property.
public protocol VersionedState {
    /// The version of the states that the type writes, at least 1; raise it with every change that needs a migration.
    static var version: Int { get }

    /// The steps from every older version that may have been saved; each leads to a later version.
    static var migrations: [Migration] { get }
}
