"""The page: live updates, offline use, hostile files, and a long history."""

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time

from archive_scene import HOSTILE_NAMES, SCRIPT, STORM, Scene, sound
from page_case import PageCase, Settings
from webdriver import DOWN, END, ENTER, HOME, LEFT, RIGHT, SHIFT, wait_for

NODES = "return document.querySelectorAll('*').length"


class LongPast(threading.Thread):
    """Makes an archive of up to 2,000 snapshots while the other tests run."""
    count, seconds = 2000, 45

    def __init__(self):
        super().__init__(daemon=True)
        self.scene = Scene(Settings.binary)
        self.made = 0
        self.is_ended = False

    def run(self):
        watcher = self.scene.watch(None, "--settle", "0s", "--max-delay", "0s")
        end = time.monotonic() + self.seconds
        while self.made < self.count and time.monotonic() < end and not self.is_ended:
            name = f"chapter{self.made % 40}.md" if self.made % 2 else "all.txt"
            self.scene.write(name, f"Version {self.made}.\n")
            self.made += any(json.loads(line)["event"] == "snapshot" for line in watcher.stdout)
        self.scene.end(watcher)


class LiveTests(PageCase):
    def test_a_save_appears_without_reloading(self):
        """A file saved while a watcher runs in another process appears on the page; the delay is printed."""
        watcher = self.scene.watch()
        self.browser.run("""
            window.seen = {};
            const note = () => { window.seen[document.querySelector("#b-id").textContent] ??= Date.now() };
            new MutationObserver(note).observe(document.querySelector("#b-id"), {childList: true, characterData: true, subtree: true});
            """)
        delays = []
        for version in range(3):
            self.scene.write("chapter.md", f"Saved {version}.\n")
            line = next(line for line in watcher.stdout if json.loads(line)["event"] == "snapshot")
            captured = time.time() * 1000
            short = json.loads(line)["id"][:8]
            shown = wait_for("the new snapshot", lambda: self.browser.run("return window.seen[arguments[0]] ?? null", short))
            delays.append(round(shown - captured))
        print(f"\n  a save appears {', '.join(map(str, delays))} ms after the watcher's event")

    def test_an_earlier_moment_stays_and_new_ones_are_counted(self):
        """A page that shows an earlier moment stays there."""
        self.step(HOME)
        self.scene.write("chapter.md", "Saved.\n")
        latest = self.scene.capture()
        self.browser.wait_for_text("#new", "1 new")
        self.step(END, latest)
        wait_for("no more news", lambda: not self.browser.text("#new"))

    def test_the_end_right_after_a_save_goes_on_following(self):
        """End leads to a snapshot that the server has not announced yet, and the page follows the next ones."""
        self.step(HOME)
        self.scene.write("chapter.md", "Saved.\n")
        latest = self.scene.capture()
        self.step(END, latest)
        self.scene.write("chapter.md", "Saved again.\n")
        next_one = self.scene.capture()
        self.wait_for_moment(lambda short: short == next_one[:8])
        self.assertEqual(self.browser.text("#new"), "")

    def test_a_sign_says_that_the_page_waits(self):
        """It appears while an answer takes longer than a glance, and disappears with the answer."""
        self.browser.run("""
            const answers = window.fetch;
            window.release = null;
            const held = new Promise((resolve) => (window.release = resolve));
            window.fetch = (...request) => held.then(() => answers(...request));""")
        self.browser.press(HOME)
        self.browser.wait_for_text("#waiting", "loading")
        self.browser.run("window.release()")
        wait_for("no sign", lambda: not self.browser.text("#waiting"))

    def test_the_tags_of_moments_hide_nothing(self):
        """At every moment, and with another one kept beside it, no tag or date of the timeline covers another."""
        overlaps = """
            const boxes = [...document.querySelectorAll("#scroller .moment rect, #scroller .axis text")].map((each) => each.getBoundingClientRect());
            const whole = document.getElementById("scroller").getBoundingClientRect();
            return boxes.flatMap((one, index) => boxes.slice(index + 1).filter((other) =>
              one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1))
              .length + boxes.filter((box) => box.right < whole.left || box.left > whole.right).length"""
        tags = "return document.querySelectorAll('#scroller .moment rect').length"
        for width in (1280, 500):
            self.browser.show_as(width, 844)
            self.browser.run("document.querySelector('archiver-timeline.folded #timeline-fold')?.click()")
            self.step(HOME)
            for key in [RIGHT] * 3 + ["a"] + [RIGHT] * 2 + [LEFT] * 3 + ["-", "-", "-", END, "a"]:
                before = self.browser.text("#b-id")
                self.browser.press(key)
                wait_for("the tags", lambda: self.browser.run(tags) >= 1)
                if key in (LEFT, RIGHT):
                    wait_for("the step", lambda: self.browser.text("#b-id") != before)
                self.assertEqual(self.browser.run(overlaps), 0, (width, key))
        self.browser.show_as()

    def test_no_label_of_the_axis_hides_another_at_any_hour(self):
        """Whatever the time of day, the part in view and the width: labels and tags lie side by side and are not cut off."""
        faults = self.browser.run("""
            return import("/timeline-drawing.js").then(({ drawTimeline }) => {
              const place = document.createElement("div");
              document.getElementById("scroller").append(place);
              const contents = { buckets: [], gaps: [], work: [], labels: [], restores: [], width: 1000 };
              const minute = 60000, day = 1440 * minute, midnight = new Date(2026, 8, 30).getTime();
              const faults = [];
              for (const width of [1280, 500, 320])
                for (const span of [0.2, 1, 7, 60, 350, 1440, 2900, 10000, 44640, 527040].map((minutes) => minutes * minute))
                  for (let now = midnight; now < midnight + 2 * day; now += 67 * minute) {
                    const view = { width, from: now - span * 0.6, to: now + span * 0.4 };
                    place.replaceChildren(drawTimeline(view, contents, { a: now, b: now - span / 9 }, []));
                    const whole = place.firstChild.getBoundingClientRect();
                    const boxes = [...place.querySelectorAll(".moment rect, .axis text")].map((each) => each.getBoundingClientRect());
                    if (boxes.length < 2 || boxes.some((one, index) => one.left < whole.left - 1 || one.right > whole.left + width + 1
                        || boxes.slice(index + 1).some((other) => one.left < other.right && other.left < one.right)))
                      faults.push([width, span / minute, new Date(now).toString()].join(" "));
                  }
              place.remove();
              return faults;
            })""")
        self.assertEqual(faults, [])

    def test_the_history_of_the_root_names_files_by_day_and_session(self):
        """Each snapshot names what it changed; a head for each day and each session stands above."""
        self.browser.press("h")
        rows = wait_for("the versions", lambda: self.browser.texts("#history .version:not(.head)"))
        self.assertTrue(any("chapter.md" in row and "summary.txt" in row and "2 changed" in row for row in rows), rows)
        heads = self.browser.texts("#history .version.head")
        self.assertEqual(len(self.browser.texts("#history .version.day")), 1)
        self.assertTrue(any(f"{len(rows)} snapshots" in head for head in heads), heads)

    def test_more_results_than_a_page(self):
        """A search with 150 results shows the newest 60, then more; lines of changed files are not called deleted."""
        for number in range(150):
            self.scene.write(f"many/paper {number}.txt", f"paper {number}\n")
        self.scene.capture()
        self.browser.press("/", "paper", ENTER)
        names = "#results section:first-child"
        self.browser.wait_for_text(f"{names} .muted", "150 results")
        self.assertEqual(len(self.browser.texts(f"{names} button.result")), 60)
        self.browser.run("document.querySelector(arguments[0]).click()", f"{names} .more-results")
        wait_for("all", lambda: len(self.browser.texts(f"{names} button.result")) == 150)

    def test_the_page_works_offline(self):
        """The page reports that it is offline; versions shown before can be shown again."""
        self.select("chapter.md")
        seen = [self.step(LEFT) for _ in range(4)]
        self.browser.wait_for_text("#preview", STORM)
        for short in reversed(seen[:-1]):
            self.step(RIGHT, short)
        wait_for("a version after the cut", lambda: STORM not in self.browser.text("#preview"))
        self.scene.end(self.server, signal.SIGKILL)
        wait_for("offline", lambda: self.browser.attribute("#status", "data-state") == "offline")
        for short in seen[1:]:
            self.step(LEFT, short)
        self.browser.wait_for_text("#preview", STORM)
        self.assertEqual(self.browser.text("#status-text"), "offline")

    def test_the_server_ends_promptly_while_a_page_is_open(self):
        """Ctrl-C ends `archiver browse` with exit status 130, even with open streams."""
        began = time.monotonic()
        self.assertEqual(self.scene.end(self.server, signal.SIGINT), 130)
        print(f"\n  after {time.monotonic() - began:.1f} s")

    def test_a_link_reopens_the_same_position(self):
        """The address loses the one-time token immediately, and contains the moment, the path and the view."""
        self.select("chapter.md")
        short = self.step(LEFT)
        self.browser.press("d")
        address = wait_for("the address", lambda: (url := self.browser.run("return location.href")).endswith("view=diff") and url)
        self.assertNotIn("token", address)
        self.browser.reload()
        self.wait_for_moment(lambda found: found == short)
        self.browser.wait_for_text("#title", "chapter.md")
        wait_for("the diff", lambda: self.browser.texts("#difference ins.line"))


class SessionTests(PageCase):
    def test_a_second_tab_and_a_bookmark_open_while_a_tab_has_a_session(self):
        """A new tab without a token borrows the session of another tab of the same server."""
        self.select("chapter.md")
        first = self.browser.window()
        address = wait_for("the position", lambda: "chapter.md" in (url := self.browser.run("return location.href")) and url)
        self.browser.open_tab(address)
        self.wait_for_moment(lambda short: short)
        self.browser.wait_for_text("#title", "chapter.md")
        self.browser.close_tab(first)

    def test_a_new_address_revives_a_dead_tab(self):
        """A token pasted into a tab whose session is over opens it again, and leaves the address."""
        self.browser.run("sessionStorage.setItem('archiver-session', '{\"session\": \"session-x.y\"}'); location.reload()")
        wait_for("the end", lambda: "session" in self.browser.text("#main .notice"))
        self.scene.end(self.server)
        self.server, url = self.scene.browse("--port", self.address.rsplit(":", 1)[1].strip("/"))
        self.browser.run("location.hash = arguments[0]", url.split("#")[1])
        self.wait_for_moment(lambda short: short)
        self.assertNotIn("token", self.browser.run("return location.href"))

    def test_a_restarted_server_goes_on_with_its_pages(self):
        """At a fixed port the key of sessions is kept in the runtime directory, which only its owner can read."""
        runtime = os.path.join(self.scene.directory, "run")
        os.mkdir(runtime, 0o700)
        self.scene.environment["XDG_RUNTIME_DIR"] = runtime
        port = self.address.rsplit(":", 1)[1].strip("/")
        self.scene.end(self.server)
        server, url = self.scene.browse("--port", port)
        self.open_page(url)
        self.scene.end(server, signal.SIGKILL)
        wait_for("offline", lambda: self.browser.attribute("#status", "data-state") == "offline")
        self.scene.browse("--port", port)
        wait_for("online", lambda: self.browser.attribute("#status", "data-state") != "offline")
        self.step(HOME)
        keys = os.listdir(os.path.join(runtime, "archiver"))
        self.assertEqual([os.stat(os.path.join(runtime, "archiver", key)).st_mode & 0o777 for key in keys], [0o600])


class OthersTests(PageCase):
    def test_what_others_do_appears(self):
        """A label, a forgotten snapshot, a watcher's start and end, and a moved directory appear without reloading; prints when."""
        delays = {}

        def appears(what, selector, words):
            began = time.monotonic()
            self.browser.wait_for_text(selector, words)
            delays[what] = f"{what} {time.monotonic() - began:.1f} s"

        self.scene.run("label", self.scene.latest, "from outside")
        appears("label", "#b-label", "from outside")
        watcher = self.scene.watch()
        appears("watcher", "#status-text", "watched to")
        first = self.browser.text("#status-text")
        wait_for("the time moves on", lambda: self.browser.text("#status-text") not in (first, ""))
        self.scene.end(watcher)
        appears("its end", "#status-text", "not watched")
        shown = self.step(LEFT)
        self.scene.run("forget", shown)
        appears("forget", "#message", "was forgotten")
        moved = self.scene.root + " moved"
        os.rename(self.scene.root, moved)
        self.scene.run("roots", "move", self.scene.root, moved)
        appears("move", "#message", "novel moved")
        os.rename(moved, self.scene.root)
        archive = self.scene.environment["ARCHIVER_ARCHIVE"]
        os.rename(archive, archive + " moved")
        appears("archive gone", "#status-text", "archive is gone")
        os.rename(archive + " moved", archive)
        print("\n  " + ", ".join(delays.values()))

    def test_what_happens_before_the_events_begin_appears(self):
        """Another tab holds the lock for the stream of events while the page opens and others label a snapshot."""
        first = self.browser.window()
        self.browser.open_tab(self.address + "icon.svg")
        self.browser.run("navigator.locks.request('archiver-events', () => new Promise(() => {}))")
        second = self.browser.window()
        self.browser.show_tab(first)
        self.browser.reload()
        self.wait_for_moment(lambda short: short)
        self.scene.run("label", self.scene.latest, "before the events")
        self.browser.show_tab(second)
        self.browser.close_tab(first)
        self.browser.wait_for_text("#b-label", "before the events")

    def test_a_purge_names_the_page_and_its_process(self):
        """purge needs the archive for itself: its error says who uses it."""
        done = subprocess.run([self.scene.binary, "purge", "chapter.md", "--yes"], cwd=self.scene.root, env=self.scene.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.server.pid), done.stdout.decode())


class HostileTests(PageCase):
    def test_the_command_line_is_right_for_names_of_any_bytes(self):
        """For every hostile name, a shell that runs the shown command prints the file."""
        self.select("hostile")
        self.browser.press(ENTER)
        wait_for("the files", lambda: len(self.rows()) >= len(HOSTILE_NAMES) + 3)
        for index, (label, _) in enumerate(self.rows()):
            if "directory" in label or not any(word in label for word in ("bad", "img", "line", "gpj", "long")):
                continue
            self.browser.run("document.querySelectorAll('#tree [role=treeitem]')[arguments[0]].click()", index)
            command = wait_for("the command", lambda: (text := self.browser.text("#command")).startswith("archiver cat") and text)
            done = subprocess.run(
                ["bash", "-c", 'archiver() { "$BINARY" "$@"; }; ' + command], cwd=self.scene.root, timeout=120, stdout=subprocess.PIPE,
                env={**self.scene.environment, "BINARY": self.scene.binary})
            self.assertEqual((done.returncode, done.stdout), (0, SCRIPT), command)
            before = command
            self.browser.run("document.querySelectorAll('#tree [role=treeitem]')[arguments[0]].click()", 0)
            wait_for("another command", lambda: self.browser.text("#command") != before)

    def test_hostile_names_and_files_run_nothing(self):
        """Selects each hostile file and shows it in every view, then opens the files themselves in the browser."""
        self.select("hostile")
        self.browser.press(ENTER)
        count = len(HOSTILE_NAMES) + 2
        wait_for("the files", lambda: sum(label.count("directory") == 0 for label, _ in self.rows()) >= count)
        titles = set()
        for _ in range(count):
            before = self.browser.text("#title")
            self.browser.press(DOWN)
            titles.add(wait_for("the next file", lambda: (title := self.browser.text("#title")) != before and title))
            for key, panel in (("p", "preview"), ("d", "difference"), ("b", "blame"), ("h", "history")):
                self.browser.press(key)
                self.wait_for_view(panel)
        self.assertEqual(len(titles), count)
        self.browser.press("/", "img src")
        wait_for("a found name", lambda: any("<img src=x" in text for text in self.browser.texts("#results button.result")))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img[src=x]').length"), 0)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 1280)
        self.assert_page_kept_to_itself()
        ticket = self.browser.run("return JSON.parse(sessionStorage.getItem('archiver-session')).ticket")
        for name in ("evil.svg", "evil.html"):
            self.browser.run("open(arguments[0], '_self')", f"/api/1/content/{self.scene.latest}?path=hostile/{name}&ticket={ticket}")
            wait_for("the request", lambda: any(name in url for url in self.browser.requests()))
        self.assertEqual(self.browser.run("return [window.pwned ?? null, document.title.includes('pwned')]"), [None, False])
        self.browser.reload()


class LongPastTests(PageCase):
    def test_a_long_history_needs_few_elements(self):
        """With up to 2,000 snapshots (as many as 45 seconds allow), each view has fewer than 1,500 elements."""
        past = self.long_past
        past.join()
        url = past.scene.browse()[1]
        self.open_page(url)
        counts = {"latest": self.browser.run(NODES)}
        self.step(HOME)
        for _ in range(4):
            self.browser.press("-")
        counts["zoomed out"] = self.browser.run(NODES)
        self.step(END)
        self.browser.press("h")
        wait_for("the versions", lambda: len(self.browser.texts("#history [role=option]")) > 5)
        counts["history"] = self.browser.run(NODES)
        self.select("chapter1.md")
        self.browser.press("h")
        wait_for("the versions", lambda: len(self.browser.texts("#history [role=option]")) > 5)
        counts["history of a file"] = self.browser.run(NODES)
        print(f"\n  elements with {past.made} snapshots: {counts}")
        self.assertGreater(past.made, 300)
        self.assertLess(max(counts.values()), 1500)

    def test_old_versions_of_a_file_with_many(self):
        """From the first moment on, each step leads to the next version; no statement rests on the latest 200 alone."""
        past = self.long_past
        past.join()
        self.open_page(past.scene.browse()[1])
        self.select("all.txt")
        self.step(HOME)
        self.browser.wait_for_text("#version-place", "before the latest 200 versions" if past.made > 420 else "before the first of")
        shown = []
        for _ in range(3):
            self.step("]")
            self.wait_for_view("preview")
            shown.append(int(wait_for("the text", lambda: self.browser.texts("#preview .line"))[0].split()[1].rstrip(".")))
        self.assertEqual(shown, sorted(set(shown)))
        self.assertLess(shown[-1], 20)
        self.step("[")
        self.wait_for_view("preview")
        self.assertEqual(self.browser.texts("#preview .line"), [f"Version {shown[1]}."])

    def test_images_have_small_pictures(self):
        """The file list and a file's history show images as they were; other files have no picture."""
        shades = """
            const own = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            return [...document.querySelectorAll(arguments[0] + " canvas.small")].map((canvas) => {
              if (!canvas.width) return null;
              own.drawImage(canvas, 0, 0);
              return own.getImageData(0, 0, 1, 1).data[0];
            })"""
        wait_for("the small picture", lambda: self.browser.run(shades, "#tree") == [60])
        self.select("picture.png")
        self.browser.press("h")
        wait_for("both versions", lambda: self.browser.run(shades, "#history") == [60, 200])
        self.step(HOME)
        wait_for("the first version", lambda: self.browser.run(shades, "#tree") == [200])
        self.scene.write("drawing.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
                                        '<rect width="9" height="9" fill="rgb(120 0 0)"/></svg>')
        self.scene.capture()
        self.open_page(self.scene.browse()[1])
        wait_for("the drawing", lambda: self.browser.run(shades, "#tree") == [120, 60])

    def test_sound_can_be_played_from_any_position(self):
        """A player reads only the parts of a file that it needs."""
        self.scene.write("sound.wav", sound(seconds=20))
        self.scene.capture()
        self.open_page(self.scene.browse()[1])
        self.select("sound.wav")
        self.browser.press("p")
        length = "return document.querySelector('#preview audio')?.duration || 0"
        wait_for("the sound's length", lambda: abs(self.browser.run(length) - 20) < 0.1)
        place = """
            const player = document.querySelector('#preview audio');
            if (player.currentTime !== 15) player.currentTime = 15;
            return !player.seeking && player.readyState >= 2 && player.currentTime"""
        wait_for("the middle", lambda: self.browser.run(place) == 15)

    def test_stepping_through_old_sessions(self):
        """With Shift, the arrow keys move from session to session; the timeline shows each session."""
        catalogue = sqlite3.connect(os.path.join(self.scene.environment["ARCHIVER_ARCHIVE"], "catalogue.sqlite"))
        with catalogue:
            # Change the times to pairs of snapshots, two hours apart.
            for table in ("snapshot", "change"):
                catalogue.execute(f"UPDATE {table} SET seconds = seconds - 7200 * (9 - (sequence - 1) / 2)")
            catalogue.execute("DELETE FROM run")
            snapshots = [row[0] for row in catalogue.execute("SELECT lower(hex(id)) FROM snapshot ORDER BY sequence")]
        catalogue.close()
        lasts = [snapshots[first:first + 2][-1] for first in range(0, len(snapshots), 2)]
        self.open_page(self.scene.browse()[1])
        for expected in reversed(lasts[:-1]):
            self.step(LEFT, expected, held=SHIFT)
        for expected in lasts[1:]:
            self.step(RIGHT, expected, held=SHIFT)
        self.browser.press("-")
        drawn = "return (document.querySelector('path.sessions')?.getAttribute('d') ?? '').split('M').length - 1"
        wait_for(f"{len(lasts)} sessions", lambda: self.browser.run(drawn) == len(lasts))
