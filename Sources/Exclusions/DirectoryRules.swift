// What a directory itself says about what is left out of it.

package import FileIO
internal import Glibc

/// The ignore files and the cache tag of one directory.
package struct DirectoryRules: Sendable {
    /// In rising precedence; empty ones are left out.
    package let ignoreFiles: [IgnoreFile]
    /// Whether the directory is tagged as a cache, and such are left out.
    package let isCache: Bool

    /// Bytes beyond which an ignore file is not heeded; git's own limit is a hundred times that.
    package static let ignoreFileByteLimit = 1 << 20
    /// The file that tags a directory as a cache (https://bford.info/cachedir/).
    package static let cacheTagName = Array("CACHEDIR.TAG".utf8)
    /// What that file begins with.
    private static let cacheTagSignature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    /// Reads what `rules` say is to be heeded in an open directory.
    ///
    /// An ignore file that is missing, unreadable, too long or no regular file counts as empty, as with git.
    package static func read(
        in directory: borrowing Descriptor, _ rules: ExclusionRules
    ) -> DirectoryRules {
        read(in: directory, rules) { _ in true }
    }

    /// Reads what `rules` say is to be heeded in an open directory whose names are known: without a system call where
    /// there is nothing.
    ///
    /// - Parameter records: the names in the directory, as `DirectoryReader` sorts them.
    package static func read(
        in directory: borrowing Descriptor, _ rules: ExclusionRules, among records: DirectoryRecords
    ) -> DirectoryRules {
        read(in: directory, rules) { records.mayHoldFile(named: $0) }
    }

    /// Reads what `rules` say is to be heeded in a directory that is not one of the file system.
    ///
    /// - Parameter content: gives the content of the regular file of a name; nil where there is none.
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

    /// Whether a change of a file of this name changes what is left out of its directory.
    package static func decides(_ name: some Collection<UInt8>, _ rules: ExclusionRules) -> Bool {
        if rules.excludesCaches && name.elementsEqual(cacheTagName) { return true }
        return rules.ignoreFileNames.contains { $0.elementsEqual(name) }
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
        // What a shorter file lacks stays zero.
        var beginning = [UInt8](repeating: 0, count: cacheTagSignature.count)
        _ = beginning.withUnsafeMutableBytes { buffer in
            try? file.read(into: buffer, path: .init(bytes: cacheTagName))
        }
        return beginning == cacheTagSignature
    }

    /// Opens `name` where it is a regular file that can be read.
    private static func openRegularFile(_ name: [UInt8], in directory: borrowing Descriptor) -> Descriptor? {
        let path = RelativePath(unchecked: name)
        let name = CName(name)
        // Looked at first: to open a FIFO or a device would do something to it.
        guard let status = try? FileStatus.read(name, in: directory), status.kind == .file else { return nil }
        guard let file = try? directory.openForReading(name, O_NONBLOCK, path: path),
            let opened = try? FileStatus.read(file), opened.kind == .file
        else { return nil }
        return file
    }
}

extension DirectoryRecords {
    /// Whether the records, sorted by name, have `name`, and not as something that surely is no regular file.
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
