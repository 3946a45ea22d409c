// States whose form changes from one version of a program to the next.

/// A state type that can be made from states that older versions of the program saved.
///
/// A type that does not conform is of version 1. An optional property, or one that the type's own decoding gives a
/// default, can be added without a new version; anything else that was renamed, added, removed or retyped needs one:
///
///     struct Game: VersionedState, Codable {
///         var attempts = 0, level = 1, score = 0
///
///         static let version = 2
///         static let migrations = [Migration(from: 1) { $0.rename("points", to: "score") }]
///     }
///
/// A state is migrated as a whole, and so is every part of one: an item of a list, a value of a dictionary, an optional,
/// a property.
public protocol VersionedState {
    /// The version of the states that the type writes, 1 or more; raised with every change that needs a migration.
    static var version: Int { get }

    /// The way from every older version that may have been saved, each step to a later one.
    static var migrations: [Migration] { get }
}
