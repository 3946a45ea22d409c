#!/usr/bin/env python3
"""Writes a snapshot into an archive that may be in use, implemented from the format document alone.

    writer.py ARCHIVE ROOT NAME TEXT

The snapshot is of a root with one file, NAME, that contains TEXT. It follows the root's latest snapshot. The machine's
secret is $ARCHIVER_MACHINE_ID. Prints the snapshot's id.
"""

import contextlib, fcntl, hashlib, json, os, secrets, struct, sys, time, zlib

import cbor2

CONTENT, NODE, SNAPSHOT, DROPPED, OPENING = 0, 1, 2, 9, 16


def sha(data):
    return hashlib.sha256(data).digest()


def number(value):
    """Unsigned LEB128."""
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def read_number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


@contextlib.contextmanager
def locked(path):
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(file)


# Reading


def segments(archive):
    for folder, _, names in os.walk(os.path.join(archive, "segments")):
        for name in sorted(names):
            if name.endswith(".segment"):
                with open(os.path.join(folder, name), "rb") as file:
                    yield file.read()


def chunks(segment):
    """Yields the kind and the bytes of each chunk in a block without bases."""
    at = 64
    while segment[at : at + 4] == b"ABLK":
        begin = at
        length, at = read_number(segment, at + 4)
        end = at + length
        (checksum,) = struct.unpack("<I", segment[end - 4 : end])
        place = segment[16:48] + struct.pack("<Q", begin)
        assert checksum == zlib.crc32(place + segment[begin : end - 4])
        stored, at = read_number(segment, at)
        payload = segment[end : end + stored]
        assert struct.unpack("<I", segment[at : at + 4])[0] == zlib.crc32(payload)
        form = segment[at + 4]
        at += 5
        if form in (0, 32):
            count, at = read_number(segment, at)
            raw = zlib.decompress(payload, -15) if form else payload
            for _ in range(count):
                kind = segment[at]
                size, at = read_number(segment, at + 1)
                at += 32
                yield kind, raw[:size]
                raw = raw[size:]
        at = end + stored


def present(archive):
    """The ids of all segments that are there and not dropped."""
    ids, dropped = set(), set()
    for segment in segments(archive):
        ids.add(segment[32:48])
        for kind, raw in chunks(segment):
            if kind == DROPPED:
                dropped.update(cbor2.loads(raw)[1])
    return ids - dropped


def latest(archive, root, machine):
    found = None, 0
    for segment in segments(archive):
        for kind, raw in chunks(segment):
            if kind != SNAPSHOT:
                continue
            snapshot = cbor2.loads(raw)
            if snapshot[1] == root and snapshot.get(16) == machine and snapshot[15] > found[1]:
                found = sha(raw), snapshot[15]
    return found


# Writing


class Segment:
    """A new segment, locked before it gets its final name."""

    def __init__(self, archive):
        with open(os.path.join(archive, "archive.json"), "rb") as file:
            text = file.read()
        manifest = json.loads(text)
        assert manifest["format"] == "archiver" and manifest["version"] == 1
        digits = manifest["checksum"].encode()
        assert hashlib.sha256(text.replace(digits, b"0" * 64)).hexdigest().encode() == digits
        assert not manifest.get("requiresToRead") and not manifest.get("requiresToWrite")
        others = sorted(present(archive))
        self.archive = bytes.fromhex(manifest["id"])
        now = time.time_ns()
        self.id = secrets.token_bytes(16)
        header = b"ARCHSEG\n" + struct.pack("<II", 1, 64) + bytes.fromhex(manifest["id"]) + self.id
        header += struct.pack("<qI", now // 10**9, now % 10**9)
        header += struct.pack("<I", zlib.crc32(header))
        begun = time.gmtime(now // 10**9)
        folder = os.path.join(archive, "segments", time.strftime("%Y/%m/%d", begun))
        os.makedirs(folder, 0o700, exist_ok=True)
        temporary = os.path.join(folder, f".archiver-{secrets.token_hex(16)}.tmp")
        self.file = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self.file, fcntl.LOCK_EX)
        os.write(self.file, header)
        self.length = len(header)
        opening = {0: self.id, 1: text.decode()}
        if others:
            opening[2] = others
        self.append(OPENING, cbor2.dumps(opening, canonical=True))
        os.fsync(self.file)
        name = f"{time.strftime('%Y%m%dT%H%M%S', begun)}.{now % 10**9 // 1000:06}Z-{self.id.hex()}.segment"
        os.rename(temporary, os.path.join(folder, name))
        directory = os.open(folder, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        with open(os.path.join(archive, "begun"), "ab") as begun:
            begun.write(name.encode() + b"\n")
            begun.flush()
            os.fsync(begun.fileno())

    def append(self, kind, raw):
        """Appends a chunk in a block of its own, without compression."""
        rest = number(len(raw)) + struct.pack("<I", zlib.crc32(raw)) + b"\0"
        rest += number(1) + bytes([kind]) + number(len(raw)) + sha(raw)
        header = b"ABLK" + number(len(rest) + 4) + rest
        place = self.archive + self.id + struct.pack("<Q", self.length)
        block = header + struct.pack("<I", zlib.crc32(place + header)) + raw
        assert os.write(self.file, block) == len(block)
        self.length += len(block)
        return sha(raw)

    def synchronize(self):
        os.fdatasync(self.file)


def ends_node(path):
    """Whether a leaf ends after the entry `path`."""
    mask = (1 << 64) - 1
    value = 0xCBF29CE484222325
    for byte in b"\0" + path:
        value = (value ^ byte) * 0x100000001B3 & mask
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & mask
    return (value ^ value >> 33) % 64 == 0


def main():
    archive, root, name, text = [os.fsencode(word) for word in sys.argv[1:]]
    archive = os.fsdecode(archive)
    machine = sha(b"archiver machine\0" + os.fsencode(os.environ["ARCHIVER_MACHINE_ID"]))[:16]
    locks = os.path.join(archive, "locks")
    names = [f"capture-{sha(root).hex()[:16]}.lock", "reclaim.lock", "open.lock"]
    with contextlib.ExitStack() as held:
        for lock in names:
            held.enter_context(locked(os.path.join(locks, lock)))
        parent, sequence = latest(archive, root, machine)
        segment = Segment(archive)
        assert not ends_node(b"") and len(text) > 96
        content = segment.append(CONTENT, text)
        own = {2: 1, 3: 0o755, 6: [1_600_000_000]}
        own |= {key: value for key, value in [(4, os.geteuid()), (5, os.getegid())] if value}
        file = {0: name, 3: 0o644, 6: [1_600_000_001, 5], 8: [[len(text), content]]}
        tree = segment.append(NODE, cbor2.dumps({1: [own, file]}, canonical=True))
        segment.synchronize()
        now = time.time_ns()
        snapshot = {
            0: [now // 10**9, now % 10**9], 1: root, 2: "elsewhere", 3: "capture", 6: tree,
            7: {0: 1, 1: 1, 3: len(text)}, 8: {1: 2}, 15: sequence + 1, 16: machine,
        }
        if parent:
            snapshot[5] = parent
        print(segment.append(SNAPSHOT, cbor2.dumps(snapshot, canonical=True)).hex())
        segment.synchronize()
        os.close(segment.file)


main()
