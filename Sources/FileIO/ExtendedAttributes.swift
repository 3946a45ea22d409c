// Extended attributes (xattr(7)), POSIX ACLs and file capabilities among them.

internal import CLinux
package import SystemPackage

/// The extended attributes of files: read in full, or made equal to a list.
package enum ExtendedAttributes {
    /// All attributes of an open file (not one opened with O_PATH), sorted by the bytes of their names.
    ///
    /// What the process may not read is left out, and so are the namespaces that no program can restore; where the
    /// file system has no attributes, there are none.
    package static func read(
        of file: borrowing Descriptor, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [ExtendedAttribute] {
        try read(of: .openFile(file.number), path: path())
    }

    /// All attributes of `name` in `directory`, of any kind, symbolic links not followed; else as for an open file.
    package static func read(
        of name: borrowing CName, in directory: borrowing Descriptor, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [ExtendedAttribute] {
        try read(of: .name(name.processPath(in: directory)), path: path())
    }

    /// Makes the attributes of an open file equal to `wanted`: sets what differs, removes what is too many.
    ///
    /// - Returns: what could not be set or removed, each with the attribute in its operation.
    /// - Throws: `FileError` where not even the present attributes can be read.
    package static func replace(
        of file: borrowing Descriptor, with wanted: [ExtendedAttribute], path: @autoclosure () -> FilePath
    ) throws(FileError) -> [FileError] {
        try replace(of: .openFile(file.number), with: wanted, path: path())
    }

    /// Makes the attributes of `name` in `directory` equal to `wanted`; else as for an open file.
    package static func replace(
        of name: borrowing CName, in directory: borrowing Descriptor, with wanted: [ExtendedAttribute],
        path: @autoclosure () -> FilePath
    ) throws(FileError) -> [FileError] {
        try replace(of: .name(name.processPath(in: directory)), with: wanted, path: path())
    }

    private static func read(
        of target: AttributeTarget, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [ExtendedAttribute] {
        do throws(Errno) {
            var attributes = [ExtendedAttribute]()
            for name in try target.names() where isRestorable(name) {
                guard let value = try value(of: name, at: target) else { continue }
                attributes.append(ExtendedAttribute(name: name, value: value))
            }
            attributes.sort { $0.name.lexicographicallyPrecedes($1.name) }
            return attributes
        } catch {
            if isAbsence(error) { return [] }
            throw FileError("read attributes of", path(), error)
        }
    }

    private static func replace(
        of target: AttributeTarget, with wanted: [ExtendedAttribute], path: @autoclosure () -> FilePath
    ) throws(FileError) -> [FileError] {
        let present = try read(of: target, path: path())
        if present == wanted { return [] }
        var failures = [FileError]()
        func attempt(_ verb: String, _ name: [UInt8], _ change: () throws(Errno) -> Void) {
            do throws(Errno) {
                try change()
            } catch {
                let shown = String(decoding: name, as: UTF8.self)
                failures.append(FileError("\(verb) attribute \(shown) of", path(), error))
            }
        }
        let names = Set(wanted.map(\.name))
        for attribute in present where !names.contains(attribute.name) && attribute.name != systemLabel {
            attempt("remove", attribute.name) { () throws(Errno) in try target.remove(attribute.name) }
        }
        let equal = Set(present)
        for attribute in wanted where !equal.contains(attribute) {
            attempt("set", attribute.name) { () throws(Errno) in try target.set(attribute.name, attribute.value) }
        }
        return failures
    }

    /// The value of an attribute; nil where it has vanished or may not be read.
    private static func value(of name: [UInt8], at target: AttributeTarget) throws(Errno) -> [UInt8]? {
        do {
            return try target.value(of: name)
        } catch  where [.noData, .permissionDenied, .notPermitted].contains(error) || isAbsence(error) {
            return nil
        }
    }

    /// Whether the file system has no extended attributes at all.
    private static func isAbsence(_ code: Errno) -> Bool {
        code == .notSupported || code == .notSupportedOnSocket || code == .noFunction
    }

    /// Whether a program can set the attribute; others show the file system's own state.
    private static func isRestorable(_ name: [UInt8]) -> Bool {
        let namespaces = ["user.", "security.", "trusted."]
        let lists = ["system.posix_acl_access", "system.posix_acl_default"]
        return namespaces.contains { name.starts(with: $0.utf8) } || lists.contains { name.elementsEqual($0.utf8) }
    }

    /// The label that an SELinux system gives to every file and lets nobody remove.
    private static let systemLabel = Array("security.selinux".utf8)
}
