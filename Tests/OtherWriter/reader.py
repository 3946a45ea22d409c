#!/usr/bin/env python3
"""Reads an archive without its catalogue, implemented from the format document alone.

    reader.py ARCHIVE [LABEL...]

Prints a line for each finding ("missing NAME", "lost NAME", "unreadable ID", "unread FILE"), and for each listed snapshot
"snapshot ID". For a snapshot with one of the labels, prints its entries as `fixtures/golden-archives/README.md`
describes. Exit code 2: the archive must not be read.
"""

import hashlib, json, os, re, struct, sys, zlib

import cbor2

CONTENT, NODE, SNAPSHOT, SLICES, FORGOTTEN, DROPPED, UNFORGOTTEN, OPENING, LOST = 0, 1, 2, 3, 7, 9, 14, 16, 17
KINDS = ["file", "directory", "symbolicLink", "fifo", "socket", "characterDevice", "blockDevice"]
NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z-([0-9a-f]{32})\.segment")
FEATURES = set()


def sha(data):
    return hashlib.sha256(data).digest()


def read_number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def manifest(data):
    value = json.loads(data)
    if value["format"] != "archiver" or value["version"] != 1:
        sys.exit(2)
    digits = value["checksum"].encode()
    assert data.count(digits) == 1 and hashlib.sha256(data.replace(digits, b"0" * 64)).hexdigest().encode() == digits
    if value["parameters"].get("hash", "sha-256") != "sha-256" or set(value.get("requiresToRead", [])) - FEATURES:
        sys.exit(2)
    return value


def undelta(delta, source, length):
    instructions, copied = [], 0
    at = end = 0
    while copied < length:
        insert, at = read_number(delta, at)
        copied += insert
        count = 0
        if copied < length:
            count, at = read_number(delta, at)
            move, at = read_number(delta, at)
            begin = end + (move // 2 if move % 2 == 0 else -(move + 1) // 2)
            end = begin + count
            copied += count
        instructions.append((insert, end - count, count))
    raw = b""
    for insert, begin, count in instructions:
        raw += delta[at : at + insert] + source[begin : begin + count]
        at += insert
    assert len(raw) == length and at == len(delta)
    return raw


class Unreadable(Exception):
    pass


class Archive:
    def __init__(self, path):
        with open(os.path.join(path, "archive.json"), "rb") as file:
            self.manifest = manifest(file.read())
        self.id = bytes.fromhex(self.manifest["id"])
        self.chunks = {}  # id -> list of blocks
        self.records = {}  # kind -> ids, in the order found
        self.findings, named, present = [], {}, {}
        files = []
        for folder, _, names in os.walk(os.path.join(path, "segments")):
            for name in names:
                file = os.path.join(folder, name)
                if NAME.fullmatch(name) and os.path.isfile(file) and not os.path.islink(file):
                    files.append(file)
        segments = []
        for name in sorted(files, key=os.path.basename):
            with open(name, "rb") as file:
                data = file.read()
            (version,) = struct.unpack("<I", data[8:12])
            assert data[:8] == b"ARCHSEG\n" and zlib.crc32(data[:60]) == struct.unpack("<I", data[60:64])[0]
            if version != 1:
                sys.exit(2)
            if data[16:32] != self.id:
                self.findings.append("unread " + os.path.basename(name))
                continue
            present[data[32:48]] = name
            segments.append(data)
        for data in segments:
            self.scan(data, named)
        dropped = set()
        for record in self.decoded(DROPPED):
            dropped.update(record[1])
        try:
            with open(os.path.join(path, "begun"), "rb") as file:
                for line in file.read().split(b"\n"):
                    match = NAME.fullmatch(line.decode("ascii", "replace"))
                    if match:
                        named[bytes.fromhex(match[1])] = match[0]
        except FileNotFoundError:
            pass
        lost = {segment for record in self.decoded(LOST) for segment in record[1]}
        for segment, name in named.items():
            if segment not in present and segment not in dropped:
                finding = "lost" if segment in lost else "missing"
                self.findings.append(f"{finding} {name or segment.hex()}")
        # Nothing in a dropped segment counts, except its records of dropped segments.
        self.chunks, self.records = {}, {}
        for data in segments:
            if data[32:48] not in dropped:
                self.scan(data, {})

    def scan(self, segment, named):
        at = 64
        while segment[at : at + 4] == b"ABLK":
            begin = at
            length, at = read_number(segment, at + 4)
            end = at + length
            place = segment[16:48] + struct.pack("<Q", begin)
            assert struct.unpack("<I", segment[end - 4 : end])[0] == zlib.crc32(place + segment[begin : end - 4])
            stored, at = read_number(segment, at)
            payload = segment[end : end + stored]
            assert struct.unpack("<I", segment[at : at + 4])[0] == zlib.crc32(payload)
            form = segment[at + 4]
            at += 5
            depth, codec, bases = form & 31, form >> 5 & 3, []
            if depth:
                count = segment[at]
                at += 1
                bases = [segment[at + 20 * i : at + 20 * i + 20] for i in range(count)]
                at += 20 * count
            if form & 128:
                length, at = read_number(segment, at)
                codec, at = "unknown", at + length
            count, at = read_number(segment, at)
            table = []
            for _ in range(count):
                kind = segment[at]
                size, at = read_number(segment, at + 1)
                table.append((kind, size, segment[at : at + 32]))
                at += 32
            assert at == end - 4
            block = (codec, bases, table, payload)
            if begin == 64 and len(table) == 1 and table[0][0] == OPENING:
                opening = cbor2.loads(self.unpack(block))
                if opening[0] == segment[32:48]:
                    manifest(opening[1].encode())
                    named.update({other: None for other in opening.get(2, []) if other not in named})
            else:
                if not table:
                    self.findings.append("unreadable block")
                for kind, _, chunk in table:
                    self.chunks.setdefault(chunk, []).append(block)
                    self.records.setdefault(kind, {})[chunk] = True
            at = end + stored

    def unpack(self, block):
        codec, bases, table, payload = block
        length = sum(size for _, size, _ in table)
        if codec == 0:
            return payload
        if codec != 1:
            raise Unreadable
        if not bases:
            return zlib.decompress(payload, -15)
        source = b"".join(self.read(next(c for c in self.chunks if c[:20] == base)) for base in bases)
        size, at = read_number(payload, 0)
        delta = payload[at:]
        if len(delta) != size:
            inflater = zlib.decompressobj(-15, zdict=source[-32768:])
            delta = inflater.decompress(delta)
        assert len(delta) == size
        return undelta(delta, source, length)

    def read(self, id):
        for block in reversed(self.chunks.get(id, [])):
            try:
                raw = self.unpack(block)
            except (Unreadable, StopIteration):
                continue
            at = 0
            for _, size, chunk in block[2]:
                if chunk == id and sha(raw[at : at + size]) == id:
                    return raw[at : at + size]
                at += size
        raise Unreadable

    def decoded(self, kind):
        for id in self.records.get(kind, {}):
            try:
                yield cbor2.loads(self.read(id))
            except Unreadable:
                self.findings.append("unreadable " + id.hex())

    def snapshots(self):
        state = {}
        for kind, is_kept, sequence in [(FORGOTTEN, 0, 3), (UNFORGOTTEN, 1, 2)]:
            for record in self.decoded(kind):
                for id in record[1]:
                    statement = (record.get(sequence, 1), tuple(record[0]), is_kept)
                    state[id] = max(state.get(id, (0, (), 1)), statement)
        found = []
        for id in self.records.get(SNAPSHOT, {}):
            if not state.get(id, (0, (), 1))[2]:
                continue
            try:
                found.append((id, cbor2.loads(self.read(id))))
            except Unreadable:
                self.findings.append("unreadable " + id.hex())
        return sorted(found, key=lambda item: (item[1][1], item[1][15], item[1][0], item[0]))

    # Trees

    def entries(self, id):
        node = cbor2.loads(self.read(id))
        path = b""
        for child in node.get(2, []):
            yield from self.entries(child[2])
        inherited = {3: 0, 4: 0, 5: 0}
        for entry in node.get(1, []):
            path = path[: entry.get(1, 0)] + entry.get(0, b"")
            inherited = {key: entry.get(key, value) for key, value in inherited.items()}
            yield path, {**entry, **inherited}

    def slices(self, slices):
        return b"".join(self.read(one[1]) if len(one) == 2 else bytes(one[0]) for one in slices)

    def content(self, entry):
        if 7 in entry or 11 in entry:
            return entry.get(7, entry.get(11))
        if 9 in entry:
            return b"".join(self.slices(cbor2.loads(self.read(list)))[:size] for size, list in entry[9])
        return self.slices(entry.get(8, []))

    def line(self, label, path, entry):
        kind = KINDS[entry.get(2, 0)]
        content = self.content(entry)
        time = entry.get(6, [0])
        attributes = [
            f"{os.fsdecode(one[0])}={(one[1] if 1 in one else self.slices(one.get(2, []))).hex()}"
            for one in entry.get(14, [])
        ]
        return "\t".join([
            label, path.hex() or "-", kind, f"{entry[3]:o}", str(time[0] * 10**9 + (time[1] if len(time) > 1 else 0)),
            str(len(content) if kind == "file" else 0), sha(content).hex(), ",".join(attributes) or "-",
        ])


archive = Archive(sys.argv[1])
for id, snapshot in archive.snapshots():
    print("snapshot", id.hex())
    if snapshot.get(4) in sys.argv[2:]:
        for path, entry in archive.entries(snapshot[6]):
            print(archive.line(snapshot[4], path, entry))
for finding in archive.findings:
    print(finding)
