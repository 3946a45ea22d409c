// Archives whose files were replaced by other objects, or have wrong content.

import ArchiveFormat
import ArchiverKit
import FileIO
import Foundation
import Glibc
import SystemPackage
import TestSupport

extension ForgedArchive {
    /// Archives with a wrong file or object in their directory.
    static let places = objects + catalogues + segments + manifests

    /// A correct archive whose files `spoil` changes.
    private static func spoiled(_ name: String, _ spoil: @escaping @Sendable (Files) throws -> Void) -> ForgedArchive {
        ForgedArchive(name, { try $0.snapshot([.forgedRoot, .forged("f", text: "content")]) }, spoil: spoil)
    }

    // MARK: Other things than files

    private static let objects: [ForgedArchive] = [
        "archive.json", "catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm", "locks", "locks/use.lock",
        "locks/open.lock", "segments", "segment", "salvage", "begun",
    ].flatMap { (place: String) in
        [
            spoiled("a FIFO in the place of \(place)") { try $0.replace(place) { try $0.makeNode($1, S_IFIFO) } },
            spoiled("a directory in the place of \(place)") { try $0.replace(place) { try $0.makeDirectory($1) } },
            spoiled("a link to endless zeros in the place of \(place)") {
                try $0.replace(place) { try $0.makeSymbolicLink($1, to: "/dev/zero") }
            },
            spoiled("a link to itself in the place of \(place)") {
                try $0.replace(place) { try $0.makeSymbolicLink($1, to: $1.lastComponent.map { "\($0)" } ?? "x") }
            },
        ]
    }

    // MARK: Catalogues

    private static func catalogue(_ name: String, _ statements: String) -> ForgedArchive {
        spoiled("a catalogue with \(name)") { archive in
            _ = try Archive.open(archive.directory)
            try archive.changeCatalogue(statements)
        }
    }

    /// A view of the table's columns whose rows never end.
    private static func endless(_ table: String, _ columns: String) -> String {
        """
        DROP TABLE \(table);
        CREATE VIEW \(table) AS WITH RECURSIVE endless(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM endless)
            SELECT \(columns) FROM endless;
        """
    }

    private static let catalogues: [ForgedArchive] = [
        catalogue("endless chunks", endless("chunk", "zeroblob(32) AS id, 64 AS location")),
        catalogue(
            "endless segments",
            endless("segment", "x AS id, '' AS path, zeroblob(16) AS name, 0 AS indexedLength, 0 AS state")),
        catalogue("endless roots", endless("root", "x AS id, x'2f' AS path, zeroblob(16) AS machine, '' AS host")),
        catalogue(
            "endless forgotten records",
            endless("forgotten", "zeroblob(32) AS id, 0 AS seconds, 0 AS nanoseconds, 0 AS isKept")),
        catalogue(
            "endless snapshots",
            endless(
                "snapshot",
                "1 AS root, x AS sequence, 0 AS seconds, 0 AS nanoseconds, zeroblob(32) AS id, 0 AS storedBytes, "
                    + "zeroblob(0) AS facts, NULL AS label")),
        catalogue(
            "a trigger",
            "CREATE TRIGGER t AFTER INSERT ON snapshot BEGIN DELETE FROM snapshot; DELETE FROM chunk; END;"),
        catalogue("another table", "CREATE TABLE more (id INTEGER);"),
        catalogue("chunks at other places", "UPDATE chunk SET location = location + 1;"),
        catalogue("chunks at places outside of all segments", "UPDATE chunk SET location = 9223372036854775807;"),
        catalogue("chunks at negative places", "UPDATE chunk SET location = -1;"),
        catalogue("chunks at places that are text", "UPDATE chunk SET location = 'here';"),
        catalogue("no chunks", "DELETE FROM chunk;"),
        catalogue("chunk ids that are too short", "UPDATE chunk SET id = substr(id, 1, 5);"),
        catalogue("ids of other chunks", "UPDATE chunk SET id = randomblob(32);"),
        catalogue("the id of another snapshot", "UPDATE snapshot SET id = randomblob(32);"),
        catalogue("a snapshot id that is too short", "UPDATE snapshot SET id = x'00';"),
        catalogue("no facts of a snapshot", "UPDATE snapshot SET facts = x'';"),
        catalogue("wrong facts of a snapshot", "UPDATE snapshot SET facts = randomblob(length(facts));"),
        catalogue("endless facts of a snapshot", "UPDATE snapshot SET facts = zeroblob(200000000);"),
        catalogue("a snapshot of a root that does not exist", "UPDATE snapshot SET root = 77;"),
        catalogue("a snapshot with the greatest sequence", "UPDATE snapshot SET sequence = 9223372036854775807;"),
        catalogue("a snapshot with a negative sequence", "UPDATE snapshot SET sequence = -1;"),
        catalogue(
            "a snapshot of another time",
            "UPDATE snapshot SET seconds = 9223372036854775807, nanoseconds = 9223372036854775807;"),
        catalogue("negative stored bytes", "UPDATE snapshot SET storedBytes = -1;"),
        catalogue("the greatest stored bytes", "UPDATE snapshot SET storedBytes = 9223372036854775807;"),
        catalogue("another root", "UPDATE root SET path = x'2f746d702f6f74686572';"),
        catalogue("a root with an invalid path", "UPDATE root SET path = x'2e2e2f2e2e';"),
        catalogue("a machine of 3 bytes", "UPDATE root SET machine = x'010203';"),
        catalogue("a segment outside of the archive", "UPDATE segment SET path = '../../../../../../etc/passwd';"),
        catalogue(
            "an indexed length beyond the segment's end", "UPDATE segment SET indexedLength = 9223372036854775807;"),
        catalogue("a segment of negative length", "UPDATE segment SET indexedLength = -1;"),
        catalogue("a segment that is marked as sealed", "UPDATE segment SET state = 1;"),
        catalogue("segments that are marked as condemned", "UPDATE segment SET state = 2;"),
        catalogue("segments that are listed as dropped", "INSERT INTO dropped SELECT name FROM segment;"),
        catalogue("blocks with text for numbers", "UPDATE block SET length = 'long', depth = 'deep', bases = x'00';"),
        catalogue("text for a length", "UPDATE segment SET indexedLength = 'long';"),
        catalogue("text for a Boolean", "UPDATE segment SET state = 'yes';"),
        catalogue("text for times", "UPDATE snapshot SET seconds = 'now', nanoseconds = 'then';"),
        catalogue("a segment with the greatest number", "UPDATE segment SET id = 9223372036854775807;"),
        catalogue("a host that is not text", "UPDATE root SET host = x'ff00ff';"),
        catalogue(
            "a gap with text for numbers",
            "INSERT INTO gap VALUES (zeroblob(32), 1, 'overflow', 'a', 'b', 'c', 'd', 'e');"),
        catalogue(
            "an operation with text for numbers",
            "INSERT INTO operation VALUES "
                + "(zeroblob(32), 1, 's', 'restore', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j');"),
        catalogue(
            "a notice with text for numbers",
            "INSERT INTO notice SELECT zeroblob(32), path, machine, 'moved', 9223372036854775807, 'b', path, 'd', "
                + "'e', 'f' FROM root;"),
        catalogue(
            "a pin with text for numbers",
            "INSERT INTO pin VALUES (zeroblob(32), 's', 'a', 'b', 'c', 'd', 'e', 'f', 'g');"),
        catalogue(
            "a label with text for numbers", "INSERT INTO lateLabel VALUES (zeroblob(32), 's', 'a', 'b', 'c', 'd');"),
        catalogue("a note with text for numbers", "INSERT INTO note VALUES (zeroblob(32), 1, 'a', 'b', 'c', 'd');"),
        catalogue(
            "a policy with text for numbers", "INSERT INTO policy VALUES (zeroblob(32), NULL, 's', 'a', 'b', 'c');"),
        catalogue("all snapshots forgotten", "INSERT INTO forgotten SELECT id, 1, 9, 0, 0, 0, 0 FROM snapshot;"),
        spoiled("a catalogue of 4 GiB of zeros") { try $0.setSize("catalogue.sqlite", 4 << 30) },
        spoiled("a catalogue whose pages are swapped") { archive in
            _ = try Archive.open(archive.directory)
            var bytes = try archive.read("catalogue.sqlite")
            guard bytes.count >= 5 * 4096 else { return }
            for index in 4096..<8192 { bytes.swapAt(index, index + 2 * 4096) }
            try archive.write("catalogue.sqlite", bytes)
        },
        spoiled("a catalogue with noise in it") { archive in
            _ = try Archive.open(archive.directory)
            var bytes = try archive.read("catalogue.sqlite")
            var random = SeededGenerator(seed: 7)
            for index in stride(from: 4096, to: bytes.count, by: 97) { bytes[index] = UInt8(random.below(256)) }
            try archive.write("catalogue.sqlite", bytes)
        },
    ]

    // MARK: Segments and manifests

    private static let segments: [ForgedArchive] = [
        spoiled("a segment of a newer version") { archive in
            try archive.write(archive.oneSegment(), [2, 0, 0, 0], at: 8)
        },
        spoiled("a segment of another archive") { archive in
            try archive.write(archive.oneSegment(), [UInt8](repeating: 7, count: 16), at: 16)
        },
        spoiled("a segment with a hole of 8 TiB at its end") { try $0.setSize($0.oneSegment(), 8 << 40) },
        spoiled("a segment that is a hole of 8 TiB") { archive in
            let segment = try archive.oneSegment()
            try archive.write(segment, [])
            try archive.setSize(segment, 8 << 40)
        },
        spoiled("a segment with a tail of noise") { archive in
            var random = SeededGenerator(seed: 8)
            try archive.append(archive.oneSegment(), random.noise(3_000_000))
        },
        spoiled("an empty segment") { try $0.write($0.oneSegment(), []) },
        spoiled("a segment with an odd name") { archive in
            let segment = try archive.oneSegment()
            try archive.rename(segment, to: segment.removingLastComponent().appending("odd.segment"))
        },
        spoiled("a segment twice") { archive in
            let segment = try archive.oneSegment()
            try archive.makeDirectory("segments/copy")
            try archive.write(
                FilePath("segments/copy").appending(segment.lastComponent?.string ?? ""), archive.read(segment))
        },
    ]

    private static let manifests: [ForgedArchive] = [
        spoiled("archive.json of a newer version") { archive in
            let text = String(decoding: try archive.read("archive.json"), as: UTF8.self)
            let newer = text.replacing(/"version"( ?): ?1/) { "\"version\"\($0.1): 2" }
            try archive.write("archive.json", newer)
        },
        spoiled("archive.json of a million brackets") {
            try $0.write("archive.json", [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20))
        },
        spoiled("archive.json that is a hole of 1 TiB") { try $0.setSize("archive.json", 1 << 40) },
        spoiled("an empty archive.json") { try $0.write("archive.json", []) },
        spoiled("archive.json with a segment size of zero") { archive in
            let text = String(decoding: try archive.read("archive.json"), as: UTF8.self)
            try archive.write(
                "archive.json", text.replacing(/"segmentBytes"( ?): ?[0-9]+/, with: "\"segmentBytes\": 0"))
        },
    ]
}

extension Files {
    /// The path of the only segment.
    fileprivate func oneSegment() throws -> FilePath {
        guard let path = try segments().first else { throw SystemFailure("find a segment in", directory) }
        return FilePath(String(path.string.dropFirst(directory.string.count + 1)))
    }

    /// Replaces the object at `place` by the one that `make` creates; the place `segment` means the only segment.
    fileprivate func replace(_ place: String, _ make: (Files, FilePath) throws -> Void) throws {
        let path = place == "segment" ? try oneSegment() : FilePath(place)
        if exists(path) { try remove(path) }
        try make(self, path)
    }

    /// Runs SQL on the catalogue.
    func changeCatalogue(_ statements: String) throws {
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()"
        let words = ["python3", "-c", script, full("catalogue.sqlite").string, statements]
        let outcome = try ChildProcess.run(words)
        if outcome.status != 0 { throw ChildProcess.Failure(description: outcome.errorText) }
    }
}
