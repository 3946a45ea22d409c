"""The watcher under test and the events it reported."""

import json, os, subprocess, threading


class Failed(Exception):
    pass


def expect(is_so, what):
    if not is_so:
        raise Failed(what)


class Watcher:
    """A running `archiver watch` and the events it reported."""

    def __init__(self, soak):
        self.soak = soak
        self.ids = []
        self.events = []
        self.reads = threading.Event()
        self.reads.set()
        self.watches = threading.Event()
        self.errors = open(soak.path("watch.errors"), "ab")
        words = ["watch", soak.root, "--json", "--settle", "2ms", "--max-delay", "20ms", "--audit-interval", "250ms"]
        words += ["--time-scale", "100"]
        self.process = subprocess.Popen(
            soak.command(words), env=soak.environment, stdout=subprocess.PIPE, stderr=self.errors)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if not self.watches.wait(60):
            raise Failed(f"the watcher does not start watching: {self.events[-3:]}, exit status {self.process.poll()}")

    def read(self):
        with open(self.soak.path("watch.log"), "ab") as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                self.reads.wait()
                if not line.endswith(b"\n"):
                    continue
                event = json.loads(line)
                self.events = (self.events + [event])[-50:]
                kind = event["event"]
                if kind == "snapshot":
                    self.ids.append(event["id"])
                    self.soak.times[event["id"]] = event["time"]
                if kind == "maintained":
                    self.soak.room_may_take += event["forgottenForRoom"]
                if kind == "watching":
                    self.watches.set()

    def end(self, by, status):
        self.process.send_signal(by)
        got = self.process.wait(60)
        self.reader.join(60)
        expect(got == status, f"the watcher ended with {got} instead of {status}: {self.events[-3:]}")

    def figures(self):
        """Resident memory in MiB, and the number of descriptors."""
        with open(f"/proc/{self.process.pid}/status") as file:
            resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        return resident / 1024, len(os.listdir(f"/proc/{self.process.pid}/fd"))
