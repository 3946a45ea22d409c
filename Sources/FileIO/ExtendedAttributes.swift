// Extended attributes (xattr(7)), including POSIX ACLs and file capabilities.

internal import CLinux
package import SystemPackage

/// Reads a file's extended attributes, or replaces them with a list.
package enum ExtendedAttributes {
    /// All attributes of an open file (not one opened with O_PATH), sorted by the bytes of their names.
    ///
    /// Attributes that the process cannot read are skipped, and so are namespaces that no program can restore. The list
    /// is empty if the file system does not support attributes.
    package static func read(
        of file: borrowing Descriptor, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [ExtendedAttribute] {
        try read(of: .openFile(file.number), path: path())
    }

    /// All attributes of `name`, of any kind, in `directory`, without following links; otherwise as for an open file.
    package static func read(
        of name: borrowing CName, in directory: borrowing Descriptor, path: @autoclosure () -> FilePath
    ) throws(FileError) -> [ExtendedAttribute] {
        try read(of: .name(name.processPath(in: directory)), path: path())
    }

    /// Makes the attributes of an open file equal to `wanted`: sets those that differ and removes all others.
    ///
    /// The label of SELinux is never removed.
    ///
    /// - Returns: the errors of attributes that could not be set or removed; the operation names the attribute.
    /// - Throws: `FileError` if the current attributes cannot be read.
    package static func replace(
        of file: borrowing Descriptor, with wanted: [ExtendedAttribute], path: @autoclosure () -> FilePath
    ) throws(FileError) -> [FileError] {
        try replace(of: .openFile(file.number), with: wanted, path: path())
    }

    /// Makes the attributes of `name` in `directory` equal to `wanted`; otherwise as for an open file.
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

    /// The value of an attribute; nil if it has been removed or cannot be read.
    private static func value(of name: [UInt8], at target: AttributeTarget) throws(Errno) -> [UInt8]? {
        do {
            return try target.value(of: name)
        } catch  where [.noData, .permissionDenied, .notPermitted].contains(error) || isAbsence(error) {
            return nil
        }
    }

    /// Whether the error means that the file system does not support extended attributes.
    private static func isAbsence(_ code: Errno) -> Bool {
        code == .notSupported || code == .notSupportedOnSocket || code == .noFunction
    }

    /// Whether a program can set the attribute; the other namespaces report internal state of the file system.
    private static func isRestorable(_ name: [UInt8]) -> Bool {
        let namespaces = ["user.", "security.", "trusted."]
        let lists = ["system.posix_acl_access", "system.posix_acl_default"]
        return namespaces.contains { name.starts(with: $0.utf8) } || lists.contains { name.elementsEqual($0.utf8) }
    }

    /// The label that SELinux sets on every file and that cannot be removed.
    private static let systemLabel = Array("security.selinux".utf8)
}
