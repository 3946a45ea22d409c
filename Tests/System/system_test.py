#!/usr/bin/env python3
"""Installs the Debian package in a Debian with systemd as process 1, in a container, and uses it as a person does.

usage: system_test.py PACKAGE [TREE]

TREE is a directory with a Debian, which stays as it is; without it, debootstrap makes one in .build/system. Needs root.
$NSPAWN may hold further options of systemd-nspawn.

With $CHURN, the program that changes a tree at random, the installed service is then left to random changes and faults
for $SOAK_SECONDS.
"""
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Soak"))
from trees import differences

PACKAGES = "systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,libsqlite3-0,zlib1g,libdeflate0,cron,sudo"
PATIENCE = 120


def fail(message):
    sys.exit("FAILED: " + message)


def step(message):
    print(f"{time.monotonic() - START:6.1f} s  {message}", flush=True)


START = time.monotonic()


class Machine:
    """A container whose process 1 is systemd."""

    def __init__(self, tree):
        self.tree = tree
        self.process = None
        self.init = None

    def boot(self):
        self.init = None
        log = open(self.tree + ".log", "ab")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "-D", self.tree, "--register=no", "--keep-unit", "--quiet"]
            + os.environ.get("NSPAWN", "").split() + ["--boot"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.init = wait(self.find_init, "systemd starts")
        wait(lambda: self.run("systemctl", "is-active", "multi-user.target").stdout == "active\n", "the machine starts")

    def find_init(self):
        try:
            children = open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()
        except FileNotFoundError:
            fail("the container ended: see " + self.tree + ".log")
        for child in children:
            try:
                if os.readlink(f"/proc/{child}/exe").endswith("/systemd"):
                    return child
            except FileNotFoundError:
                # The outer process has passed it on meanwhile.
                continue
        return None

    def cut_off(self):
        """The power fails: nothing gets a signal that it could answer."""
        os.kill(int(self.init), signal.SIGKILL)
        self.process.wait(30)

    def run(self, *words, user=None):
        command = ["nsenter", "-t", self.init, "-a"]
        if user:
            number = self.run("id", "-u", user).stdout.strip()
            command += ["runuser", "-u", user, "--", "env", f"XDG_RUNTIME_DIR=/run/user/{number}", f"HOME=/home/{user}"]
        return subprocess.run(command + list(words), capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def do(self, *words, user=None):
        done = self.run(*words, user=user)
        if done.returncode != 0:
            fail(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def path(self, path):
        return self.tree + path


def wait(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    fail(f"not within {PATIENCE} s: {what}")


def captured(machine, root, user=None, archiver=("archiver",)):
    """Whether the latest snapshot equals the tree on disk."""
    machine.do(*archiver, "sync", root, user=user)
    target = "/tmp/restored-" + str(time.monotonic_ns())
    machine.do(*archiver, "restore", "latest", "--root", root, "--target", target, user=user)
    machine.do("diff", "-r", "--no-dereference", root, target)
    machine.do("rm", "-rf", target)


def main():
    package = os.path.realpath(sys.argv[1])
    base = sys.argv[2] if len(sys.argv) > 2 else os.path.abspath(".build/system/tree")
    if not os.path.exists(base + "/usr/bin/systemctl"):
        os.makedirs(os.path.dirname(base), exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", "--include=" + PACKAGES, "bookworm", base], check=True)
    tree = base + "-running"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["cp", "-a", base, tree], check=True)
    shutil.copy(package, tree + "/archiver.deb")
    machine = Machine(tree)
    machine.boot()
    try:
        use(machine)
        if "CHURN" in os.environ:
            soak(machine, os.environ["CHURN"], int(os.environ.get("SOAK_SECONDS", "60")))
    finally:
        if machine.init and machine.process.poll() is None:
            machine.cut_off()
    shutil.rmtree(tree, ignore_errors=True)
    print("all is well")


def use(machine):
    step("systemd runs: " + machine.do("systemctl", "--version").split("\n")[0])
    machine.do("dpkg", "-i", "/archiver.deb")
    step("the package is installed")
    for kind in ("--user", "--system"):
        folder = "/usr/lib/systemd/" + kind[2:]
        machine.do("env", "XDG_RUNTIME_DIR=/run", "systemd-analyze", "verify", kind, f"{folder}/archiver.service", f"{folder}/archiver-check.timer")

    machine.do("useradd", "-m", "ann")
    machine.do("mkdir", "-p", "/home/ann/thesis", user="ann")
    machine.do("sh", "-c", "echo one > /home/ann/thesis/text", user="ann")
    # Without a session of the user, there is no manager that could start the service.
    without = machine.run("archiver", "enable", "/home/ann/thesis", user="ann")
    if without.returncode != 0 or "@reboot" not in without.stdout:
        fail("a user without a session: " + without.stdout + without.stderr)
    step("without a session of the user, the line for cron is printed")
    machine.do("loginctl", "enable-linger", "ann")
    wait(lambda: machine.run("systemctl", "--user", "is-system-running", user="ann").stdout.strip() in ("running", "degraded"),
         "the user's manager starts")
    said = machine.do("archiver", "enable", user="ann")
    if "The service is running and starts by itself" not in said:
        fail(said)
    step("a user enables a directory: " + said.split("\n")[0])
    captured(machine, "/home/ann/thesis", "ann")
    status = machine.do("systemctl", "--user", "show", "archiver", "-p", "StatusText,Type,ActiveState,SubState", user="ann")
    if "1 root watched" not in status or "ActiveState=active" not in status:
        fail(status)
    if "archiver-check.timer" not in machine.do("systemctl", "--user", "list-timers", "--all", user="ann"):
        fail("no timer")
    step("ready, with its status: " + status.split("StatusText=")[1].split("\n")[0])

    machine.do("archiver", "enable", "--system", "/etc")
    machine.do("sh", "-c", "echo 1 > /etc/changed")
    captured(machine, "/etc", archiver=("archiver",))
    step("the machine's service captures /etc")
    # Root's own capture is not confined, so what the service writes shows what its unit allows.
    wait(lambda: "snapshot" in machine.do("journalctl", "-u", "archiver", "-o", "cat"), "the journal has the events")
    found = [line for line in machine.do("journalctl", "--no-pager", "-o", "json").splitlines() if "thread priority" in line]
    if found:
        fail(f"the journal has lines of libdispatch: {found[:3]}")
    warnings = machine.do("journalctl", "-u", "archiver", "-p", "warning", "-o", "cat", "--no-pager")
    step(f"the journal has events with priorities; warnings: {len(warnings.splitlines())}")
    security = machine.run("systemd-analyze", "security", "archiver.service").stdout.strip().split("\n")[-1]
    step("systemd-analyze security: " + security)

    writer = subprocess.Popen(
        ["nsenter", "-t", machine.init, "-a", "runuser", "-u", "ann", "--", "sh", "-c",
         "i=0; while :; do i=$((i+1)); echo $i > /home/ann/thesis/$((i % 50)); sleep 0.005; done"])
    time.sleep(3)
    machine.cut_off()
    writer.wait()
    machine.boot()
    step("the power failed in the middle of writing, and the machine starts again")
    for user in ("ann", None):
        scope = ["--user"] if user else []
        wait(lambda: machine.run("systemctl", *scope, "is-active", "archiver", user=user).stdout == "active\n",
             "the service starts by itself")
    machine.do("sh", "-c", "echo after > /home/ann/thesis/after", user="ann")
    captured(machine, "/home/ann/thesis", "ann")
    machine.do("archiver", "status", user="ann")
    machine.do("archiver", "check", "--data", user="ann")
    step("both services have started by themselves; writes are captured, status and check are well")

    folder = "/etc/systemd/system/archiver.service.d"
    machine.do("mkdir", "-p", folder)
    machine.do("sh", "-c", f"printf '[Service]\\nWatchdogSec=6s\\nRestartSec=1s\\n' > {folder}/watchdog.conf")
    machine.do("systemctl", "daemon-reload")
    machine.do("systemctl", "restart", "archiver")
    process = machine.do("systemctl", "show", "archiver", "-p", "MainPID", "--value").strip()
    machine.do("sh", "-c", "kill -STOP " + process)
    wait(lambda: machine.do("systemctl", "show", "archiver", "-p", "NRestarts", "--value").strip() != "0",
         "the watchdog ends a stopped service")
    wait(lambda: machine.run("systemctl", "is-active", "archiver").stdout == "active\n", "it starts again")
    if "watchdog" not in machine.do("journalctl", "-u", "archiver", "--no-pager").lower():
        fail("the journal does not name the watchdog")
    machine.do("sh", "-c", "echo 2 > /etc/changed")
    captured(machine, "/etc")
    step("a stopped service is ended by the watchdog and starts again")

    # A unit that lacks a right: it may not write where the archive is.
    machine.do("sh", "-c", f"printf '[Service]\\nReadWritePaths=\\nStateDirectory=\\n' > {folder}/rights.conf")
    machine.do("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "archiver")
    said = wait(lambda: [line for line in machine.do("journalctl", "-u", "archiver", "-o", "cat", "-n", "30", "--no-pager").split("\n")
                         if "read-only" in line.lower()], "a unit that lacks a right says so")
    step("a unit that lacks a right says: " + said[0])
    machine.do("rm", "-r", folder)
    machine.do("systemctl", "daemon-reload")
    machine.do("systemctl", "reset-failed", "archiver")
    machine.do("systemctl", "restart", "archiver")

    machine.do("systemctl", "start", "archiver-check")
    machine.do("systemctl", "--user", "start", "archiver-check", user="ann")
    machine.do("systemctl", "is-active", "archiver")
    machine.do("archiver", "reload", "--system")
    step("the weekly check runs beside the service, which still answers")

    before = machine.do("systemctl", "show", "archiver", "-p", "MainPID", "--value")
    machine.do("dpkg", "-i", "/archiver.deb")
    wait(lambda: machine.run("systemctl", "is-active", "archiver").stdout == "active\n", "the service after an upgrade")
    if machine.do("systemctl", "show", "archiver", "-p", "MainPID", "--value") == before:
        fail("an upgrade did not start the service again")
    captured(machine, "/etc")
    step("an upgrade starts the service again")

    machine.do("cp", "/usr/bin/archiver", "/root/archiver")
    machine.do("dpkg", "--remove", "archiver")
    machine.do("dpkg", "--purge", "archiver")
    if machine.run("systemctl", "is-active", "archiver").stdout == "active\n":
        fail("the service runs after the removal")
    for path in ("/var/lib/archiver/archive/archive.json", "/etc/archiver/config.toml",
                 "/home/ann/.local/share/archiver/archive.json", "/home/ann/.config/archiver/config.toml"):
        if not os.path.exists(machine.path(path)):
            fail(path + " was removed with the package")
    machine.do("/root/archiver", "check", "--archive", "/var/lib/archiver/archive")
    step("removal and purge end the machine's service; archives and configurations stay")


def soak(machine, churn, seconds):
    """The service as it is installed, beside random changes: it is killed, stopped, started again, and loses power."""
    machine.do("dpkg", "-i", "/archiver.deb")
    folder = "/etc/systemd/system/archiver.service.d"
    machine.do("mkdir", "-p", folder)
    # As installed, but for quicker restarts, and any number of them.
    machine.do("sh", "-c", f"printf '[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nWatchdogSec=10s\\nRestartSec=100ms\\n' > {folder}/soak.conf")
    machine.do("systemctl", "daemon-reload")
    machine.do("mkdir", "-p", "/srv/data/tree", "/srv/data/outside")
    machine.do("archiver", "enable", "--system", "/srv/data/tree")
    seed = int(os.environ.get("TEST_SEED", random.SystemRandom().getrandbits(32)))
    print("TEST_SEED=" + str(seed))
    chance = random.Random(seed)

    def show(name):
        return machine.do("systemctl", "show", "archiver", "-p", name, "--value").strip()

    def signalled(name):
        process = show("MainPID")
        machine.run("sh", "-c", f"kill -s {name} {process}")
        if name != "TERM":
            wait(lambda: show("MainPID") not in (process, "0"), f"another process after SIG{name}")

    def reloaded():
        for _ in range(3):
            machine.do("archiver", "reload", "--system")

    def power_cut():
        machine.cut_off()
        machine.boot()

    faults = {
        "nothing": lambda: None,
        "killed": lambda: signalled("KILL"),
        "ended": lambda: signalled("TERM"),
        "stopped": lambda: signalled("STOP"),
        "restarted": lambda: machine.do("systemctl", "restart", "archiver"),
        "reloaded": reloaded,
        "power cut": power_cut,
    }
    end = time.monotonic() + seconds
    rounds, changes, figures = 0, 0, []
    while time.monotonic() < end:
        name = chance.choice(list(faults))
        program = subprocess.Popen(
            [churn, machine.path("/srv/data/tree"), "1500", str(chance.getrandbits(63)), "touch"],
            stdout=subprocess.PIPE, text=True)
        time.sleep(chance.uniform(0, 0.5))
        faults[name]()
        changes += int(program.communicate()[0].splitlines()[-1].split()[1])
        if name == "ended":
            # A service that was asked to end does not start again by itself.
            wait(lambda: show("ActiveState") in ("inactive", "failed"), "the service ends")
            machine.do("systemctl", "start", "archiver")
        wait(lambda: show("ActiveState") == "active", f"round {rounds}: the service runs after: {name}")
        machine.do("archiver", "sync", "/srv/data/tree")
        target = "/srv/restored"
        machine.do("archiver", "restore", "latest", "--root", "/srv/data/tree", "--target", target)
        found = differences(machine.path("/srv/data/tree"), machine.path(target))
        if found:
            fail(f"round {rounds}, {name}: " + "; ".join(found[:5]))
        machine.do("rm", "-rf", target)
        status = machine.run("archiver", "status")
        process = f"/proc/{machine.init}/root/proc/{show('MainPID')}"
        memory = next(int(line.split()[1]) for line in open(process + "/status") if line.startswith("VmRSS:"))
        figures.append((memory >> 10, len(glob.glob(process + "/fd/*"))))
        rounds += 1
        if rounds % 20 == 0:
            machine.do("archiver", "check", "--data")
            step(f"{rounds} rounds, {changes} changes, {figures[-1][0]} MiB, {figures[-1][1]} descriptors; status {status.returncode}")
    machine.do("archiver", "check", "--data")
    step(f"soak: {rounds} rounds, {changes} changes, no difference; memory at most {max(f[0] for f in figures)} MiB")


main()
