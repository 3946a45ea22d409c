// What a directory itself says about what is left out of it.

package import FileIO

/// The ignore files and the cache tag of one directory.
package struct DirectoryRules: Sendable {
    /// In rising precedence.
    package let ignoreFiles: [IgnoreFile]
    /// Whether the directory is tagged as a cache, and such are left out.
    package let isCache: Bool

    /// Reads what `rules` say is to be heeded in an open directory.
    ///
    /// An ignore file that is missing, unreadable or no regular file counts as empty, as with git.
    package static func read(
        in directory: borrowing Descriptor, _ rules: ExclusionRules
    ) -> DirectoryRules {
        DirectoryRules(ignoreFiles: [], isCache: false)
    }

    /// Whether a change of a file of this name changes what is left out of its directory.
    package static func decides(_ name: some Collection<UInt8>, _ rules: ExclusionRules) -> Bool {
        rules.ignoreFileNames.contains { $0.elementsEqual(name) }
    }
}
