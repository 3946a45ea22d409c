"""The server of a page on an archive with very many snapshots: prints how long its answers take, and its memory.

usage: page_many.py ARCHIVER ARCHIVE [--seconds 60]    (for each search of lines)

`benchmarks help-with history DIR 1000000` (see `make build-benchmarks`) makes such an archive.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

from api_client import Client


Client.timeout = 120


class Server:
    def __init__(self, binary, archive, home):
        began = time.monotonic()
        # In a terminal, Enter prints another address.
        self.terminal, stdin = os.openpty()
        self.process = subprocess.Popen(
            [binary, "browse", "--no-open"], cwd=home, stdin=stdin, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "HOME": home, "ARCHIVER_ARCHIVE": os.path.abspath(archive)})
        self.client = Client(self.process.stdout.readline().strip())
        print(f"the first answers after {time.monotonic() - began:.2f} s, {self.memory()}")

    def memory(self):
        """Returns the memory that belongs to the process alone, now and at most."""
        with open(f"/proc/{self.process.pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return ", ".join(f"{name} {int(fields[key].split()[0]) // 1024} MiB" for name, key in (("now", "RssAnon"), ("peak with files", "VmHWM")))

    def ask(self, what, name, **query):
        began = time.monotonic()
        answer = self.client.get(name, **query)
        print(f"{what:32} {time.monotonic() - began:7.3f} s, {self.memory()}", flush=True)
        return answer

    def search(self, what, seconds, **query):
        """Reads the results of a search until its end, or for so many seconds."""
        began = time.monotonic()
        address = self.client.address("search", **query)
        connection = self.client.connection()
        connection.request("GET", address, headers={"Host": self.client.host, **self.client.session})
        response = connection.getresponse()
        first, count, end = None, 0, "stopped"
        while time.monotonic() - began < seconds and (line := response.readline()):
            value = json.loads(line)
            if value.get("end"):
                end = "ended"
            elif "path" in value:
                first = first or time.monotonic() - began
                count += 1
        connection.close()
        first = "no result" if first is None else f"first of {count} results after {first:.2f} s"
        print(f"{what:32} {time.monotonic() - began:7.3f} s, {end}, {first}, {self.memory()}", flush=True)

    def ask_beside(self, count, **query):
        """Asks for short answers while other pages search."""
        connections = []
        for _ in range(count):
            os.write(self.terminal, b"\n")
            page = Client(self.process.stdout.readline().strip())
            connections.append(page.connection())
            connections[-1].request("GET", page.address("search", **query), headers={"Host": page.host, **page.session})
        times = []
        for _ in range(40):
            began = time.monotonic()
            self.client.get("roots")
            times.append(time.monotonic() - began)
            time.sleep(0.1)
        for connection in connections:
            connection.close()
        print(f"roots beside {count} searches         {sorted(times)[len(times) // 2]:7.3f} s (median), {max(times):.3f} s (most), {self.memory()}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("archiver")
    parser.add_argument("archive")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server = Server(os.path.abspath(options.archiver), options.archive, home)
        try:
            measure(server, options.seconds)
        finally:
            server.process.terminate()
            server.process.wait()


def measure(server, seconds):
    root = max(server.ask("roots", "roots")["roots"], key=lambda root: root["snapshots"])
    latest, root = root["latest"], {"root": root["id"]}
    print(f"{server.ask('the whole timeline', 'timeline', buckets=400, **root)['snapshots']} snapshots")
    server.ask("the whole timeline again", "timeline", buckets=400, **root)
    day = 86_400_000
    for days in (0.001, 1, 30):
        server.ask(f"scrolled by {days} days", "timeline", buckets=400, **{"from": latest["time"] - int((days + 1) * day), "to": latest["time"] - int(days * day)}, **root)
    server.ask("the moment 30 days ago", "snapshots", at=latest["time"] - 30 * day, **root)
    earlier = server.ask("60 moments before", "snapshots", before=latest["id"], limit=60, **root)["snapshots"][0]
    server.ask("files at the latest", "tree", snapshot=latest["id"], against=earlier["id"])
    server.ask("what changed", "changes", a=earlier["id"], b=latest["id"])
    server.ask("history of the root", "log", limit=200, **root)
    server.ask("deleted", "deleted", **root)
    server.ask("deleted again", "deleted", **root)
    usage = server.ask("space", "usage", **root)
    began = time.monotonic()
    while usage["isCounting"] and time.monotonic() - began < seconds:
        time.sleep(0.2)
        usage = server.client.get("usage", **root)
    print(f"{'counted what takes the space' if 'items' in usage else 'not counted'}: {time.monotonic() - began:.1f} s, {server.memory()}")
    server.ask("space again", "usage", **root)
    server.search("names: a part of one", seconds, q="f10007", **root)
    server.search("names: a part of thousands", seconds, q="f1", **root)
    server.search("lines of all versions", seconds, q="of state 99", kind="content", **root)
    server.search("lines that are nowhere", seconds, q="nowhere at all", kind="content", **root)
    server.ask_beside(8, q="nowhere at all", kind="content", **root)


if __name__ == "__main__":
    main()
