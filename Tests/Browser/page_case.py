"""The setup of all page tests: a novel with a history, its server, and the page in a browser."""

import atexit
import tempfile
import unittest

from archive_scene import Scene, contents
from webdriver import DOWN, UP, Browser, Firefox, wait_for


class Settings:
    """Settings from the command line."""
    binary = axe = pictures = geckodriver = None


class SceneCase(unittest.TestCase):
    options = []

    def setUp(self):
        self.scene = Scene(Settings.binary)
        self.addCleanup(self.scene.close)
        self.scene.write_past()
        self.server, self.url = self.scene.browse(*self.options)

    def assert_tree(self, expected):
        """Asserts that the novel's bytes and permissions are as expected."""
        found = contents(self.scene.root)
        self.assertEqual({name for name in {*found, *expected} if found.get(name) != expected.get(name)}, set())


class PageCase(SceneCase):
    _browser = None

    @classmethod
    def setUpClass(cls):
        if PageCase._browser is None:
            directory = tempfile.TemporaryDirectory(prefix="archiver-chromium-", ignore_cleanup_errors=True)
            atexit.register(directory.cleanup)
            PageCase._browser = Firefox(directory.name, Settings.geckodriver) if Settings.geckodriver else Browser(directory.name)
            atexit.register(PageCase._browser.close)
        cls.browser = PageCase._browser

    def setUp(self):
        super().setUp()
        self.browser.show_as()
        self.open_page(self.url)

    def open_page(self, url):
        self.address = url.split("#")[0]
        # Close the open page first: it still sends requests to its own server.
        self.browser.open("about:blank")
        self.browser.log(), self.browser.requests()
        self.browser.open(url)
        self.wait_for_moment(lambda short: short)

    def tearDown(self):
        self.assert_page_kept_to_itself()

    def assert_page_kept_to_itself(self):
        """Asserts that no request went elsewhere, nothing of the archive ran, and the log has only refused requests."""
        # A player's buttons are data: URLs of the browser.
        own = ("about:blank", self.address, f"blob:{self.address}", "data:")
        requests = self.browser.requests()
        self.assertTrue(requests)
        self.assertEqual([url for url in requests if not url.startswith(own)], [])
        self.assertEqual([entry["message"] for entry in self.browser.log() if entry["source"] != "network"], [])
        self.assertEqual(self.browser.run("return [window.pwned ?? null, document.title.includes('pwned')]"), [None, False])

    def wait_for_moment(self, holds):
        """Waits until the page shows a matching moment, and returns its short id."""
        return wait_for("the moment", lambda: (short := self.browser.text("#b-id")) and holds(short) and short)

    def step(self, key, expected=None, held=""):
        """Presses a key that moves to another moment, and returns its short id."""
        before = self.browser.text("#b-id")
        self.browser.press(key, held=held)
        return self.wait_for_moment(lambda short: short == expected[:8] if expected else short != before)

    def select(self, name):
        """Selects a row of the tree with the arrow keys."""
        rows = wait_for(f"the row of {name}", lambda: any(label.startswith(name) for label, _ in self.rows()) and self.rows())
        place = next(index for index, row in enumerate(rows) if row[0].startswith(name))
        active = next((index for index, row in enumerate(rows) if row[1] == "true"), -1)
        self.browser.press("f", *([DOWN] * (place - active) if place > active else [UP] * (active - place)))
        self.browser.wait_for_text("#title", name.split(",")[0][:8])

    def rows(self):
        return self.browser.run(
            "return [...document.querySelectorAll('#tree [role=treeitem]')].map((row) => [row.ariaLabel, row.ariaSelected])")

    def wait_for_view(self, panel):
        """Waits until a panel shows the current position."""
        wait_for(panel, lambda: self.browser.run("""
            const panel = document.getElementById(arguments[0]);
            return !panel.hidden && panel.ariaBusy === "false" && panel.hasChildNodes()""", panel))

    def wait_for_plan(self):
        return wait_for("the plan", lambda: self.browser.text("#plan-summary"))
