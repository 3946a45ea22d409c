// Reading and replacing extended attributes.

import CLinux
import FileIO
import Glibc
import SystemPackage
import TestSupport
import TestTraits
import Testing

@Suite(.blocking) struct ExtendedAttributeTests {
    typealias Attribute = ExtendedAttribute

    private static func attribute(_ name: String, _ value: [UInt8]) -> Attribute {
        Attribute(name: Array(name.utf8), value: value)
    }

    /// Whether the file system of the tests supports the attribute `name`.
    private static func canSet(_ name: String) -> Bool {
        guard let directory = try? OpenDirectory() else { return false }
        return clinux_fsetxattr(directory.root.number, name, "1", 1) == 0
    }
    static let hasUserAttributes = canSet("user.test")
    static let hasTrustedAttributes = canSet("trusted.test")
    static let hasLists = canSetList()

    /// The binary form of an access list.
    ///
    /// As the kernel expects it (linux/posix_acl_xattr.h): version 2, then entries of tag, permissions and id.
    private static func accessList(_ entries: [(tag: UInt16, permissions: UInt16, id: UInt32)]) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        return bytes(UInt32(2)) + entries.flatMap { bytes($0.tag) + bytes($0.permissions) + bytes($0.id) }
    }

    /// In the notation of getfacl(1): user::rw-, user:1234:rwx, group::r--, mask::rwx, other::---.
    private static let list = accessList([
        (0x01, 6, .max), (0x02, 7, 1_234), (0x04, 4, .max), (0x10, 7, .max), (0x20, 0, .max),
    ])

    private static func canSetList() -> Bool {
        guard let directory = try? OpenDirectory() else { return false }
        return list.withUnsafeBytes {
            clinux_fsetxattr(directory.root.number, "system.posix_acl_access", $0.baseAddress, $0.count) == 0
        }
    }

    @Test("the list is empty for a file without attributes")
    func none() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        try directory.root.createSymbolicLink(CName("link"), target: CName("file"), path: "link")
        try directory.root.createSpecialFile(CName("fifo"), kind: .fifo, permissions: 0o600, path: "fifo")
        // A security module may label every file.
        func own(_ attributes: [Attribute]) -> [Attribute] {
            attributes.filter { !$0.name.starts(with: "security.".utf8) }
        }
        #expect(own(try ExtendedAttributes.read(of: directory.root, path: ".")) == [])
        for name in ["file", "link", "fifo"] {
            #expect(own(try ExtendedAttributes.read(of: CName(name), in: directory.root, path: "name")) == [])
        }
        let file = try directory.root.open(CName("file"), O_RDONLY, path: .root)
        #expect(try ExtendedAttributes.replace(of: file, with: [], path: "file") == [])
    }

    @Test("the list is empty on a file system without attributes")
    func unsupported() throws {
        #expect(try ExtendedAttributes.read(of: try Descriptor.open("/proc/self/stat", O_RDONLY), path: "stat") == [])
        let proc = try Descriptor.open("/proc/self", O_RDONLY | O_DIRECTORY)
        #expect(try ExtendedAttributes.read(of: CName("exe"), in: proc, path: "exe") == [])
    }

    @Test("attributes are read sorted by name", .enabled(if: hasUserAttributes))
    func sorted() throws {
        let directory = try OpenDirectory()
        let expected = [
            Self.attribute("user.", []), Self.attribute("user.B", [0, 255, 0]),
            Self.attribute("user.a", Array("1".utf8)),
            Self.attribute("user.é", [UInt8](repeating: 7, count: 2_000)),
        ].filter { $0.name != Array("user.".utf8) }
        for attribute in expected.reversed() {
            let result = CName(attribute.name).withPointer { name in
                attribute.value.withUnsafeBytes {
                    clinux_fsetxattr(directory.root.number, name, $0.baseAddress, $0.count)
                }
            }
            try #require(result == 0)
        }
        #expect(try ExtendedAttributes.read(of: directory.root, path: ".") == expected)
        let parent = try Descriptor.open(directory.path.removingLastComponent(), O_RDONLY | O_DIRECTORY)
        let name = CName(try #require(directory.path.lastComponent).string)
        #expect(try ExtendedAttributes.read(of: name, in: parent, path: ".") == expected)
    }

    @Test("replace turns any list of attributes into any other", .enabled(if: hasUserAttributes))
    func replacing() throws {
        var random = SeededGenerator("attributes")
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        let file = try directory.root.open(CName("file"), O_RDWR, path: .root)
        for round in 0..<100 {
            var wanted = [Attribute]()
            // Many names of a hundred bytes exceed the first buffer.
            let suffix = String(repeating: "n", count: round.isMultiple(of: 10) ? 100 : 1)
            for letter in "abcdefghijklmno" where Bool.random(using: &random) {
                let value = random.noise(Int.random(in: 0...20, using: &random))
                wanted.append(Self.attribute("user.\(letter)\(suffix)", value))
            }
            let failures =
                Bool.random(using: &random)
                ? try ExtendedAttributes.replace(of: file, with: wanted, path: "file")
                : try ExtendedAttributes.replace(of: CName("file"), in: directory.root, with: wanted, path: "file")
            #expect(failures == [], "round \(round), seed \(random.seed)")
            let read = try ExtendedAttributes.read(of: file, path: "file")
            #expect(
                read.filter { $0.name.starts(with: "user.".utf8) } == wanted, "round \(round), seed \(random.seed)")
        }
    }

    @Test(
        "the attributes of a file with any name are accessible through its directory",
        .enabled(if: hasUserAttributes))
    func names() throws {
        let directory = try OpenDirectory()
        let wanted = [Self.attribute("user.a", [1])]
        for bytes in CreateTests.names {
            let name = CName(bytes)
            try directory.root.createSpecialFile(name, kind: .file, permissions: 0o600, path: "name")
            #expect(try ExtendedAttributes.replace(of: name, in: directory.root, with: wanted, path: "name") == [])
            #expect(try ExtendedAttributes.read(of: name, in: directory.root, path: "name").contains(wanted[0]))
        }
    }

    @Test("links and special files have attributes of their own", .enabled(if: hasTrustedAttributes))
    func linksAndDevices() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        try directory.root.createSymbolicLink(CName("link"), target: CName("file"), path: "link")
        try directory.root.createSpecialFile(CName("fifo"), kind: .fifo, permissions: 0o600, path: "fifo")
        let wanted = [Self.attribute("trusted.a", [1])]
        for name in ["link", "fifo"] {
            #expect(try ExtendedAttributes.replace(of: CName(name), in: directory.root, with: wanted, path: "n") == [])
            #expect(try ExtendedAttributes.read(of: CName(name), in: directory.root, path: "n") == wanted)
        }
        #expect(try ExtendedAttributes.read(of: CName("file"), in: directory.root, path: "file") == [])
    }

    @Test("access lists are restored byte for byte", .enabled(if: hasLists))
    func accessLists() throws {
        let directory = try OpenDirectory()
        try directory.root.createDirectory(CName("d"), permissions: 0o700, path: "d")
        let folder = try directory.root.open(CName("d"), O_RDONLY | O_DIRECTORY, path: .root)
        let wanted = [
            Self.attribute("system.posix_acl_access", Self.list),
            Self.attribute("system.posix_acl_default", Self.list),
        ]
        #expect(try ExtendedAttributes.replace(of: folder, with: wanted, path: "d") == [])
        #expect(try ExtendedAttributes.read(of: folder, path: "d") == wanted)
        // acl(5): the group bits of a file with an access list are its mask.
        #expect(try FileStatus.read(folder).permissions == 0o670)
        try folder.setPermissions(0o670, path: "d")
        #expect(try ExtendedAttributes.read(of: folder, path: "d") == wanted)
        #expect(try ExtendedAttributes.replace(of: folder, with: [], path: "d") == [])
        #expect(try ExtendedAttributes.read(of: folder, path: "d") == [])
    }

    @Test("an attribute that cannot be set is reported, and the others are set")
    func failures() throws {
        let directory = try OpenDirectory()
        try directory.write("", to: "file")
        let file = try directory.root.open(CName("file"), O_RDWR, path: .root)
        let wanted = [Self.attribute("nonsense", [1])] + (Self.hasUserAttributes ? [Self.attribute("user.a", [1])] : [])
        let failures = try ExtendedAttributes.replace(of: file, with: wanted, path: "file")
        #expect(failures == [FileError("set attribute nonsense of", "file", .notSupportedOnSocket)])
        let read = try ExtendedAttributes.read(of: file, path: "file")
        #expect(read.contains { $0.name == Array("user.a".utf8) } == Self.hasUserAttributes)
    }
}
