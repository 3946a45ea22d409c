#!/usr/bin/env python3
"""The soak test: a watcher with compressed time, a tree that changes at random, and one fault after another.

    soak.py ARCHIVER CHURN EXAMPLES SECONDS [SEED]

Audits run all the time, retries and polls a hundred times as often as usual. Each round injects one fault while the
tree changes. Then the watcher settles, and the round checks that:

- the latest snapshot, restored, equals the tree;
- every announced snapshot is listed, unless a full disk took one that is over an hour old by its time, and some of
  them can be restored;
- a state changed by several programs has every change that was reported as saved, and no other;
- `check --data` finds nothing;
- the watcher's memory and descriptors are bounded and do not grow from the first rounds to the last.

The archive is on a tmpfs of its own, so that the disk can be filled up. This needs root or a user namespace; without
them, the disk is never full. After a failure the files are kept, and their place is printed with the seed.
"""

import json, os, random, shutil, signal, statistics, subprocess, sys, tempfile, time
from datetime import datetime, timedelta, timezone

from trees import differences
from watcher import Failed, Watcher, expect

MIB = 1 << 20
DISK = 768 * MIB


class Soak:
    def __init__(self, programs, seed):
        self.archiver, self.churn, self.examples = [os.path.abspath(program) for program in programs]
        self.seed = seed
        self.random = random.Random(seed)
        self.base = tempfile.mkdtemp(prefix="archiver-soak-")
        for name in ["root/many", "outside", "disk"]:
            os.makedirs(self.path(name))
        self.has_disk = "SOAK_INSIDE" in os.environ
        if self.has_disk:
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", self.path("disk")], check=True)
        self.root, self.archive = self.path("root"), self.path("disk/archive")
        self.environment = dict(os.environ, ARCHIVER_ARCHIVE=self.archive, HOME=self.base)
        self.make_clock()
        self.watcher = None
        self.announced = []
        self.times = {}
        self.forgotten = set()
        # How many snapshots the watchers said they forgot for lack of room.
        self.room_may_take = 0
        self.rounds = self.changes = self.checked = 0
        # The counter's least and greatest possible value.
        self.counted, self.begun = 0, 0
        self.figures = []

    def path(self, name):
        return os.path.join(self.base, name)

    # Commands

    def command(self, words):
        return [self.archiver] + words

    def run(self, *words, allowed=(0,), timeout=300):
        done = subprocess.run(
            self.command(list(words)), env=self.environment, capture_output=True, timeout=timeout, cwd=self.base)
        expect(
            done.returncode in allowed,
            f"archiver {' '.join(words)} ended with {done.returncode}: {done.stdout[-800:]} {done.stderr[-800:]}")
        return done

    def start_churn(self, operations):
        seed = str(self.random.getrandbits(63))
        # Files that were changed through mapped memory are touched, because events may be lost here.
        return subprocess.Popen(
            [self.churn, self.root, str(operations), seed, "touch"], stdout=subprocess.PIPE, text=True)

    def count(self, times):
        # A program that uses the library; several of them change one state at the same time.
        words = [self.examples, "counter", "--times", str(times)]
        program = subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return program, times

    # The clock

    def make_clock(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock.c")
        library = self.path("clock.so")
        compiler = next((name for name in ["cc", "clang", "gcc"] if shutil.which(name)), None)
        self.has_clock = compiler is not None
        if not self.has_clock:
            return
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.step_clock(0)
        self.environment |= {"LD_PRELOAD": library, "CLOCK_OFFSET": self.path("clock")}

    def step_clock(self, seconds):
        # Write in place, because the programs have mapped the file. Never set the clock ahead of the kernel's, which
        # sets the files' times: a change just before a scan would then look old.
        with open(self.path("clock"), "r+b" if os.path.exists(self.path("clock")) else "wb") as file:
            file.write(seconds.to_bytes(8, "little", signed=True))

    # Faults, each injected while the tree changes

    def nothing(self):
        time.sleep(0.3)

    def stopped(self):
        self.watcher.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.1, 1))
        self.watcher.process.send_signal(signal.SIGCONT)

    def killed(self):
        for _ in range(self.random.randint(1, 3)):
            time.sleep(self.random.uniform(0, 0.4))
            self.restart(signal.SIGKILL, -signal.SIGKILL)

    def restarted(self):
        self.restart(self.random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP]), 0)

    def catalogue_lost_between(self):
        self.watcher.end(signal.SIGTERM, 0)
        self.remove_catalogue()
        self.start()

    def catalogue_lost_while_running(self):
        self.remove_catalogue()
        time.sleep(0.3)
        self.run("list", allowed=(0, 1, 2, 10, 11))

    def clock_stepped(self):
        if not self.has_clock:
            return
        for seconds in [-3600, -60, -86_400, 0]:
            self.step_clock(seconds)
            time.sleep(0.2)

    def disk_full(self):
        if not self.has_disk:
            return
        ballast = self.path("disk/ballast")
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(MIB))
            except OSError:
                pass
        time.sleep(self.random.uniform(0.2, 0.8))
        os.remove(ballast)

    def captured_beside(self):
        for _ in range(3):
            self.run("capture", self.root, allowed=(0, 3))

    def restored_beside(self):
        shutil.rmtree(self.path("beside"), ignore_errors=True)
        self.run("restore", "latest", "--root", self.root, "--target", self.path("beside"))

    def restored_in_place(self):
        # The tree changes at the same time: the restore skips paths that have changed, and reports them.
        for words in [["restore", "latest~1", "--root"], ["undo"], ["redo"], ["undo"]]:
            self.run(*words, self.root, allowed=(0, 1, 3))

    def states_changed_beside(self):
        programs = [self.count(self.random.randint(5, 40)) for _ in range(3)]
        time.sleep(self.random.uniform(0, 0.3))
        programs[0][0].kill()
        for program, times in programs:
            output, error = program.communicate(timeout=300)
            self.begun += times
            if program.returncode == 0:
                self.counted += times
            else:
                expect(program.returncode == -signal.SIGKILL, f"the counter: {output} {error}")

    def read_beside(self):
        for words in [["list"], ["status"], ["check"], ["diff", "latest~1", "latest"], ["show", "latest"]]:
            self.run(*words, "--json", *(["--root", self.root] if words[0] in ("diff", "show") else []),
                allowed=(0, 1) if words[0] in ("status", "diff", "show") else (0,))

    def reader_stalled(self):
        self.watcher.reads.clear()
        time.sleep(1)
        self.watcher.reads.set()

    def pruned_beside(self):
        rows = json.loads(self.run("list", "--root", self.root, "--json").stdout)
        going = {row["id"] for row in rows[:-5] if self.random.random() < 0.7}
        if going:
            self.run("forget", *going)
        # The watcher may have announced some of them in this round; compare() drops those.
        self.forgotten |= going
        words = self.command(["prune", "--now"])
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        killed = subprocess.Popen(words, env=self.environment, cwd=self.base, **quiet)
        time.sleep(self.random.uniform(0, 0.3))
        killed.kill()
        killed.wait()
        self.run("prune", "--now")

    def remove_catalogue(self):
        for name in os.listdir(self.archive):
            if name.startswith("catalogue"):
                os.remove(os.path.join(self.archive, name))

    FAULTS = [
        nothing, stopped, killed, restarted, catalogue_lost_between, catalogue_lost_while_running, clock_stepped,
        disk_full, captured_beside, restored_beside, restored_in_place, states_changed_beside, read_beside,
        reader_stalled, pruned_beside,
    ]

    # The watcher

    def start(self):
        self.watcher = Watcher(self)

    def restart(self, by, status):
        self.watcher.end(by, status)
        self.announced += self.watcher.ids
        self.start()

    # Rounds

    def round(self, fault):
        churns = [self.start_churn(self.random.randint(200, 2500)) for _ in range(2)]
        fault(self)
        for churn in churns:
            output = churn.communicate(timeout=300)[0]
            expect(churn.returncode == 0, f"churn: {output}")
            self.changes += int(output.split("\n")[1].split()[1])
        # One more change of content, so that the directories' times are captured too.
        with open(os.path.join(self.root, "end"), "w") as file:
            file.write(str(self.rounds))
        self.settle()
        self.compare()
        self.rounds += 1

    def settle(self):
        """Waits until the watcher reports that everything is captured."""
        end = time.monotonic() + 120
        while True:
            expect(self.watcher.process.poll() is None, f"the watcher died with {self.watcher.process.poll()}")
            done = self.run("status", self.root, "--json", "--patience", "60s", allowed=(0, 1))
            watcher = json.loads(done.stdout)["roots"][0].get("watcher")
            if watcher and watcher["phase"] == "watching" and watcher["current"] and not watcher.get("failure"):
                return
            expect(time.monotonic() < end, f"the watcher does not settle: {done.stdout.decode()}")
            time.sleep(0.05)

    def compare(self):
        self.announced += self.watcher.ids
        self.announced = [name for name in self.announced if name not in self.forgotten]
        self.watcher.ids = []
        target = self.path("restored")
        shutil.rmtree(target, ignore_errors=True)
        self.run("restore", "latest", "--root", self.root, "--target", target)
        wrong = differences(self.root, target)
        expect(not wrong, f"the latest snapshot differs from the tree: {wrong[:10]}")
        listed = {row["id"] for row in json.loads(self.run("list", "--root", self.root, "--json").stdout)}
        missing = [name for name in self.announced if name not in listed]
        self.expect_forgotten_for_room(missing)
        self.announced = [name for name in self.announced if name in listed]
        for name in self.random.sample(self.announced, min(3, len(self.announced))):
            shutil.rmtree(target, ignore_errors=True)
            self.run("restore", name, "--root", self.root, "--target", target)
            self.checked += 1
        self.check_counter()
        self.run("check", "--data")

    def expect_forgotten_for_room(self, missing):
        """Each must be more than an hour old, as after a step of the clock, and a watcher must have said so."""
        end = time.monotonic() + 30
        while len(missing) > self.room_may_take and time.monotonic() < end:
            time.sleep(0.05)
        expect(
            len(missing) <= self.room_may_take, f"{len(missing)} announced snapshots are not listed: {missing[:3]}")
        self.room_may_take -= len(missing)
        hour_ago = (datetime.now(timezone.utc) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S")
        young = [name for name in missing if self.times[name][:19] > hour_ago]
        expect(not young, f"snapshots of the last hour were forgotten for lack of room: {young[:3]}")

    def check_counter(self):
        program, times = self.count(1)
        output, error = program.communicate(timeout=300)
        expect(program.returncode == 0, f"the counter: {output} {error}")
        count = int(output.split()[-1])
        low, high = self.counted + 1, self.begun + 1
        expect(low <= count <= high, f"the counter is at {count}, which should be {low} to {high}")
        self.counted = self.begun = count

    def renew(self):
        """Starts a new archive if the current one has become large."""
        use = os.statvfs(self.path("disk"))
        if not self.has_disk or use.f_bavail * use.f_frsize > DISK // 2:
            return
        self.watcher.end(signal.SIGTERM, 0)
        shutil.rmtree(self.archive)
        self.announced = []
        self.room_may_take = self.counted = self.begun = 0
        self.start()

    def report(self, fault):
        resident, descriptors = self.watcher.figures()
        self.figures.append((resident, descriptors))
        print(
            f"soak: round {self.rounds}, {fault.__name__}: {self.changes} changes, {len(self.announced)} snapshots, "
            f"{self.checked} restored, {resident:.0f} MiB, {descriptors} descriptors", flush=True)
        # The limits are generous: they are only meant to detect unbounded growth.
        # A walk opens eight directories ahead on each of 32 levels.
        expect(descriptors < 400, f"{descriptors} descriptors")
        expect(resident < 512, f"{resident} MiB of memory")

    def soak(self, seconds):
        end = time.monotonic() + seconds
        self.start()
        names = os.environ.get("SOAK_FAULTS", "").split()
        faults = [fault for fault in self.FAULTS if not names or fault.__name__ in names]
        while time.monotonic() < end:
            # Every fault once, in a new random order each time.
            for fault in self.random.sample(faults, len(faults)):
                print(f"soak: {fault.__name__}…", flush=True)
                self.round(fault)
                self.report(fault)
                self.renew()
                if time.monotonic() >= end:
                    break
        self.check_flatness()
        self.watcher.end(signal.SIGTERM, 0)

    def check_flatness(self):
        # With fewer rounds the comparison means nothing, because a new watcher is small.
        third = len(self.figures) // 3
        if third < 2 * len(self.FAULTS):
            return
        for index, (name, room) in enumerate([("MiB of memory", 24), ("descriptors", 10)]):
            first, last = [
                statistics.median(figure[index] for figure in part)
                for part in (self.figures[:third], self.figures[-third:])]
            expect(last < 1.25 * first + room, f"{name} grow: {first:.0f} in the first rounds, {last:.0f} in the last")

    def clean_up(self):
        if self.watcher and self.watcher.process.poll() is None:
            self.watcher.process.kill()
        if self.has_disk:
            subprocess.run(["umount", "-l", self.path("disk")])
        shutil.rmtree(self.base, ignore_errors=True)

    def keep(self):
        """Copies the archive out of the tmpfs, so that it outlasts this process."""
        if self.watcher and self.watcher.process.poll() is None:
            self.watcher.process.kill()
            self.watcher.process.wait()
        if self.has_disk:
            subprocess.run(["cp", "-a", self.archive, self.path("archive")])


def main():
    # If nohup(1) had set SIGHUP to be ignored, the watchers would ignore it too.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if "SOAK_INSIDE" not in os.environ:
        # A private mount namespace, whose mounts end with it.
        flags = ["-m"] if os.geteuid() == 0 else ["-Urm"]
        words = ["unshare"] + flags + ["--propagation", "private"]
        mounts = words + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if subprocess.run(mounts, capture_output=True).returncode == 0:
            os.execvpe("unshare", words + [sys.executable, "-B"] + sys.argv, dict(os.environ, SOAK_INSIDE="1"))
        print("soak: mounting is not allowed here, so the disk is never full", flush=True)
    programs, seconds = sys.argv[1:4], sys.argv[4]
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().getrandbits(32)
    print(f"soak: seed {seed}", flush=True)
    soak = Soak(programs, seed)
    try:
        soak.soak(float(seconds))
    except BaseException as error:
        soak.keep()
        print(f"soak: FAILED in round {soak.rounds} with seed {seed}: {error!r}\nsoak: files are kept in {soak.base}")
        return 1
    memory = [figure[0] for figure in soak.figures]
    descriptors = [figure[1] for figure in soak.figures]
    print(
        f"soak: no difference in {soak.rounds} rounds, {soak.changes} changes; memory {min(memory):.0f} to "
        f"{max(memory):.0f} MiB, at the end {memory[-1]:.0f}; descriptors {min(descriptors)} to {max(descriptors)}")
    soak.clean_up()
    return 0


if __name__ == "__main__":
    sys.exit(main())
