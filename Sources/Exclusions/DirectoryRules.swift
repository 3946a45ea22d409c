// The exclusion rules that a directory's own files define.

package import FileIO
internal import Glibc

/// The ignore files and the cache tag of one directory.
package struct DirectoryRules: Sendable {
    /// The ignore files that hold patterns, in rising precedence.
    package let ignoreFiles: [IgnoreFile]
    /// Whether the directory is tagged as a cache and caches are excluded.
    package let isCache: Bool

    /// The largest size of an ignore file in bytes; longer files are ignored.
    ///
    /// git's own limit is a hundred times that.
    package static let ignoreFileByteLimit = 1 << 20
    /// The file that tags a directory as a cache (https://bford.info/cachedir/).
    package static let cacheTagName = Array("CACHEDIR.TAG".utf8)
    /// The bytes that the tag file must begin with.
    private static let cacheTagSignature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    /// Reads the ignore files and the cache tag that `rules` ask for in an open directory.
    ///
    /// An ignore file that is missing, unreadable, too long or not a regular file counts as empty, as in git.
    package static func read(
        in directory: borrowing Descriptor, _ rules: ExclusionRules
    ) -> DirectoryRules {
        read(in: directory, rules) { _ in true }
    }

    /// Reads the ignore files and the cache tag in an open directory that has been listed.
    ///
    /// Makes no system call if none of them is in the list.
    ///
    /// - Parameter records: the names in the directory, as `DirectoryReader` sorts them.
    package static func read(
        in directory: borrowing Descriptor, _ rules: ExclusionRules, among records: DirectoryListing
    ) -> DirectoryRules {
        read(in: directory, rules) { records.mayHoldFile(named: $0) }
    }

    /// Reads the ignore files and the cache tag in a directory that is not on the file system.
    ///
    /// - Parameter content: returns the content of the regular file with the given name; nil if there is none.
    package static func read<Failure: Error>(
        _ rules: ExclusionRules, _ content: (_ name: [UInt8]) throws(Failure) -> [UInt8]?
    ) throws(Failure) -> DirectoryRules {
        var files = [IgnoreFile]()
        for name in rules.ignoreFileNames {
            guard let text = try content(name), text.count <= ignoreFileByteLimit else { continue }
            let file = IgnoreFile(text)
            if !file.isEmpty { files.append(file) }
        }
        let isCache = rules.excludesCaches ? try content(cacheTagName)?.starts(with: cacheTagSignature) : false
        return DirectoryRules(ignoreFiles: files, isCache: isCache ?? false)
    }

    /// Whether a change of a file with this name changes the exclusions in its directory.
    package static func decides(_ name: some Collection<UInt8>, _ rules: ExclusionRules) -> Bool {
        if rules.excludesCaches && name.elementsEqual(cacheTagName) { return true }
        return rules.ignoreFileNames.contains { $0.elementsEqual(name) }
    }

    /// The names of the files that define a directory's exclusions.
    package static func decidingNames(_ rules: ExclusionRules) -> [[UInt8]] {
        rules.ignoreFileNames + (rules.excludesCaches ? [cacheTagName] : [])
    }

    private static func read(
        in directory: borrowing Descriptor, _ rules: ExclusionRules, where mayExist: ([UInt8]) -> Bool
    ) -> DirectoryRules {
        var files = [IgnoreFile]()
        for name in rules.ignoreFileNames where mayExist(name) {
            guard let text = contents(of: name, in: directory) else { continue }
            let file = IgnoreFile(text)
            if !file.isEmpty { files.append(file) }
        }
        let isCache = rules.excludesCaches && mayExist(cacheTagName) && hasCacheTag(directory)
        return DirectoryRules(ignoreFiles: files, isCache: isCache)
    }

    private static func contents(of name: [UInt8], in directory: borrowing Descriptor) -> [UInt8]? {
        guard let file = openRegularFile(name, in: directory) else { return nil }
        return try? file.readToEnd(limit: ignoreFileByteLimit, path: .init(bytes: name))
    }

    private static func hasCacheTag(_ directory: borrowing Descriptor) -> Bool {
        guard let file = openRegularFile(cacheTagName, in: directory) else { return false }
        // The missing bytes of a shorter file stay zero.
        var beginning = [UInt8](repeating: 0, count: cacheTagSignature.count)
        _ = beginning.withUnsafeMutableBytes { buffer in
            try? file.read(into: buffer, path: .init(bytes: cacheTagName))
        }
        return beginning == cacheTagSignature
    }

    /// Opens `name`; nil if it is not a readable regular file.
    private static func openRegularFile(_ name: [UInt8], in directory: borrowing Descriptor) -> Descriptor? {
        let path = RelativePath(unchecked: name)
        let name = CName(name)
        // Check before opening: opening a FIFO or a device can have side effects.
        guard let status = try? FileStatus.read(name, in: directory), status.kind == .file else { return nil }
        guard let file = try? directory.openForReading(name, O_NONBLOCK, path: path),
            let opened = try? FileStatus.read(file), opened.kind == .file
        else { return nil }
        return file
    }
}

extension DirectoryListing {
    /// Whether the records, sorted by name, contain `name`, unless it is known not to be a regular file.
    fileprivate func mayHoldFile(named name: [UInt8]) -> Bool {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if self[middle].bytes.lexicographicallyPrecedes(name) {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        guard range.lowerBound < endIndex, self[range.lowerBound].bytes.elementsEqual(name) else { return false }
        let kind = kind(at: range.lowerBound)
        return kind == nil || kind == .file
    }
}
