"""The server of a page on a text of 11 MiB and on a line of 1 MiB: prints how long its answers take, and its memory.

usage: page_texts.py ARCHIVER
"""

import argparse
import tempfile

from archive_scene import Scene
from page_many import Server

LINES = 191_000
VERSIONS = 12


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("archiver")
    options = parser.parse_args()
    scene = Scene(options.archiver)
    server = None
    try:
        lines = [f"Sentence {number} of a text that is as long as a book, or ten.\n" for number in range(LINES)]
        snapshots = []
        words = "word " * ((1 << 20) // 5)
        for version in range(VERSIONS):
            lines[version * 14_000] = f"Sentence of version {version}.\n"
            scene.write("large.txt", "".join(lines))
            scene.write("line.txt", words[:version * 80_000] + "new " + words[version * 80_000:])
            snapshots.append(scene.capture())
        with tempfile.TemporaryDirectory() as home:
            server = Server(scene.binary, scene.environment["ARCHIVER_ARCHIVE"], home)
            size = sum(map(len, lines)) / (1 << 20)
            for name, what in (("line.txt", "a line of 1 MiB"), ("large.txt", f"a text of {size:.1f} MiB")):
                server.ask(f"diff of {what}", "diff", a=snapshots[-2], b=snapshots[-1], path=name)
                server.ask(f"blame of {what}", "blame", snapshot=snapshots[-1], path=name)
    finally:
        if server:
            server.process.terminate()
            server.process.wait()
        Scene.close_all()


if __name__ == "__main__":
    main()
