// The configuration file on disk: only the user or root may write it; it is replaced in one step.

import Configuring
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite struct ConfigurationFileTests {
    private let place: TemporaryDirectory
    private let file: ConfigurationFile

    init() throws {
        place = try TemporaryDirectory()
        file = ConfigurationFile(path: place.path.pushing(FilePath("config/archiver/config.toml")))
    }

    private func fault() -> String? {
        do throws(ConfigurationError) {
            _ = try file.read()
            return nil
        } catch { return error.reason }
    }

    @Test("a file that others may write is refused, and so are other kinds of objects")
    func permissions() throws {
        try file.replace("archive = \"/a\"\n")
        #expect(try file.read() == "archive = \"/a\"\n")
        chmod(file.path.string, 0o664)
        #expect(fault() == "others may write the file, and so change what is captured")
        chmod(file.path.string, 0o602)
        #expect(fault() != nil)
        chmod(file.path.string, 0o644)
        #expect(fault() == nil)
        unlink(file.path.string)
        #expect(try file.read() == nil)
        mkfifo(file.path.string, 0o600)
        #expect(fault() == "this is not a regular file")
    }

    @Test("a file of another user is refused", .enabled(if: CurrentProcess.isRoot))
    func owner() throws {
        try file.replace("")
        chown(file.path.string, 12345, 12345)
        #expect(fault()?.hasPrefix("the file belongs to the user 12345") == true)
    }

    @Test("replacing keeps the permissions, follows a link, and leaves no temporary file")
    func replacing() throws {
        try file.replace("archive = \"/a\"\n")
        chmod(file.path.string, 0o600)
        let real = place.path.pushing(FilePath("dotfiles.toml"))
        #expect(rename(file.path.string, real.string) == 0)
        #expect(symlink(real.string, file.path.string) == 0)
        try file.replace("archive = \"/b\"\n")
        let status = try FileStatus.read(Descriptor.open(real, O_RDONLY))
        #expect(status.permissions == 0o600)
        #expect(try file.read() == "archive = \"/b\"\n")
    }

    @Test("a file that is not UTF-8 is refused")
    func encoding() throws {
        try file.replace("")
        let bytes: [UInt8] = [0xFF, 0x0A]
        try Data(bytes).write(to: URL(filePath: file.path.string))
        #expect(fault() == "the file is not UTF-8")
    }
}
