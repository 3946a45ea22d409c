"""An archive of a novel with a history, in a temporary directory, and the processes that use it."""

import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import zlib

HOSTILE_NAMES = [
    b"bad\xff\x01name", b"<img src=x onerror=window.pwned=1>.html", b"line\nbreak.txt", "gpj.\u202etxt.exe".encode(),
    b"long" * 62 + b"est.txt",
]
SCRIPT = b"<script>window.pwned = 1; document.title = 'pwned'; alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="window.pwned=1">' \
    b"<script>window.pwned = 1; document.title = 'pwned'</script><rect width=\"40\" height=\"40\"/></svg>"
STORM = "The storm broke over the harbour."


def section(number, words="nothing happens"):
    lines = [f"In section {number}, sentence {line}, {words}." for line in range(1, 9)]
    if number == 3:
        lines[2] = STORM
    return "\n".join([f"# Section {number}", *lines, ""])


def image(shade):
    """Returns a PNG image of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes([shade, 90, 160]) * 64) * 64
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def sound(seconds, rate=8000):
    """Returns a WAV file of silence."""
    data = b"\0\0" * (rate * seconds)
    head = struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + head + b"data" + struct.pack("<I", len(data)) + data


def contents(root):
    """Returns the bytes and permissions of everything in a directory, by name."""
    found = {}
    for directory, names, files in os.walk(os.fsencode(root)):
        for name in names + files:
            path = os.path.join(directory, name)
            mode = os.lstat(path).st_mode
            found[os.path.relpath(path, os.fsencode(root))] = mode, None if name in names else open_bytes(path)
    return found


def open_bytes(path):
    with open(path, "rb") as file:
        return file.read()


class Scene:
    """The novel, its archive, and the processes started for them."""
    all = []

    def __init__(self, binary):
        Scene.all.append(self)
        self.binary = os.path.abspath(binary)
        self.directory = tempfile.mkdtemp(prefix="archiver-browser-")
        self.root = os.path.join(self.directory, "novel")
        self.environment = {**os.environ, "ARCHIVER_ARCHIVE": os.path.join(self.directory, "archive"), "HOME": self.directory}
        self.processes = []
        os.mkdir(self.root)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        self.processes.clear()
        shutil.rmtree(self.directory, ignore_errors=True)

    @staticmethod
    def close_all():
        for scene in Scene.all:
            scene.close()

    def run(self, *arguments):
        return subprocess.run([self.binary, *arguments], env=self.environment, check=True, stdout=subprocess.PIPE, timeout=120).stdout

    def start(self, *arguments, archive=None):
        environment = self.environment if archive is None else {**self.environment, "ARCHIVER_ARCHIVE": archive}
        process = subprocess.Popen([self.binary, *arguments], env=environment, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def start_as(self, prefix, *arguments):
        """Starts the program by another one."""
        process = subprocess.Popen([*prefix, self.binary, *arguments], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def start_limited(self, *arguments, files):
        """Starts the program with a hard limit of open files."""
        return self.start_as(["prlimit", f"--nofile={files}:{files}"], *arguments)

    def end(self, process, signal_number=signal.SIGTERM):
        process.send_signal(signal_number)
        return process.wait(timeout=60)

    def write(self, name, data):
        path = os.path.join(os.fsencode(self.root), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def read(self, name):
        return open_bytes(os.path.join(self.root, name)).decode()

    def capture(self, label=None):
        """Captures the novel, and returns the snapshot's id."""
        options = ["--label", label] if label else []
        return json.loads(self.run("capture", "--json", self.root, *options))[0]["snapshot"]["id"]

    def browse(self, *options):
        """Starts a server, and returns it and the address of its page."""
        server = self.start("browse", self.root, "--no-open", *options)
        return server, server.stdout.readline().strip()

    def watch(self, root=None, *options, archive=None):
        """Starts a watcher that prints its events as JSON."""
        watcher = self.start("watch", root or self.root, "--json", *options, archive=archive)
        for line in watcher.stdout:
            if json.loads(line)["event"] == "watching":
                return watcher
        raise AssertionError("the watcher ended")

    def write_past(self):
        """Captures a history: five sections, of which the third is cut; then hostile names and files."""
        sections = [section(number) for number in range(1, 6)]
        self.write("notes/todo.txt", "find a title\ncut section 3?\n")
        self.write("picture.png", image(200))
        for version in range(6):
            sections[version % 5] = section(version % 5 + 1, f"draft {version} happens")
            self.write("chapter.md", "\n".join(sections))
            self.write("summary.txt", f"Draft {version}.\n" * 3)
            self.before_cut = self.capture(label="before the cut" if version == 5 else None)
        self.uncut = self.read("chapter.md")
        del sections[2]
        self.write("chapter.md", "\n".join(sections))
        self.cut = self.capture()
        self.write("picture.png", image(60))
        os.remove(os.path.join(self.root, "notes/todo.txt"))
        self.capture()
        for name in HOSTILE_NAMES:
            self.write(b"hostile/" + name, SCRIPT)
        self.write("hostile/evil.svg", SVG)
        self.write("hostile/evil.html", SCRIPT)
        for version in range(3):
            sections[version] = sections[version].replace("happens", f"happens again {version}")
            self.write("chapter.md", "\n".join(sections))
            self.write("summary.txt", f"After the cut {version}.\n" * 3)
            self.latest = self.capture()
