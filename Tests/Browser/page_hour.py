"""A page that is open beside a watcher while a program saves: prints the memory of all three every minute.

usage: page_hour.py ARCHIVER [--minutes 60] [--saves 10]    (saves a second)

The exit status is 1 if the page does not show the last save, or if a process needs more than a tenth (and 8 MiB) more at the end
than after half of the time, when the caches are full.
"""

import argparse
import json
import sys
import tempfile
import threading
import time

from archive_scene import Scene
from webdriver import Browser, wait_for


def memory(process):
    """Returns the memory of a process that the system cannot take back, in MiB: without pages of files."""
    with open(f"/proc/{process.pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss_Anon:")) / 1024


class Saves(threading.Thread):
    """Saves one of 40 chapters, so many times a second."""
    def __init__(self, scene, rate):
        super().__init__(daemon=True)
        self.scene, self.rate, self.made, self.is_ended = scene, rate, 0, False

    def run(self):
        began = time.monotonic()
        while not self.is_ended:
            self.made += 1
            self.scene.write(f"chapter{self.made % 40}.md", f"Save {self.made}.\n" * 40)
            time.sleep(max(0, began + self.made / self.rate - time.monotonic()))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("archiver")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--saves", type=float, default=10)
    options = parser.parse_args()
    scene = Scene(options.archiver)
    browser = None
    try:
        scene.write("chapter0.md", "Save 0.\n")
        watcher = scene.watch(None, "--settle", "0s", "--max-delay", "0s")
        threading.Thread(target=lambda: [None for _ in watcher.stdout], daemon=True).start()
        server, url = scene.browse()
        browser = Browser(tempfile.mkdtemp(prefix="archiver-chromium-"))
        browser.show_as()
        browser.open(url)
        wait_for("the moment", lambda: browser.text("#b-id"))
        saves = Saves(scene, options.saves)
        saves.start()
        began, rows = time.monotonic(), []
        while (seconds := time.monotonic() - began) < options.minutes * 60:
            time.sleep(min(60, options.minutes * 6))
            browser.devtools("HeapProfiler.collectGarbage")
            heap = browser.devtools("Runtime.getHeapUsage")["usedSize"] / (1 << 20)
            rows.append((memory(server), memory(watcher), heap))
            browser.log(), browser.requests()
            print(f"{seconds / 60:5.1f} min, {saves.made:6} saves: server {rows[-1][0]:5.1f} MiB, watcher {rows[-1][1]:5.1f} MiB, "
                  f"page {heap:5.1f} MiB, nodes {browser.run('return document.querySelectorAll(`*`).length')}", flush=True)
        saves.is_ended = True
        saves.join()
        scene.run("sync", scene.root)
        latest = json.loads(scene.run("list", "--json", "--limit", "1"))[0]["id"][:8]
        wait_for(f"the last moment, {latest}", lambda: browser.text("#b-id") == latest)
        early, late = rows[len(rows) // 2], rows[-1]
        grown = [name for name, old, new in zip(("server", "watcher", "page"), early, late) if new > max(old * 1.1, old + 8)]
        print(f"grown: {', '.join(grown)}" if grown else "memory is flat")
        return 1 if grown else 0
    finally:
        if browser:
            browser.close()
        Scene.close_all()


if __name__ == "__main__":
    sys.exit(main())
