"""Checks by axe-core's accessibility rules, and screenshots: light and dark, wide and narrow."""

import json
import os
import unittest

from page_case import PageCase, Settings
from webdriver import ESCAPE, LEFT, wait_for

SIZES = [(1280, 800), (640, 400), (390, 844), (320, 256)]
VIEWS = [("d", "difference"), ("b", "blame"), ("h", "history"), ("p", "preview")]
DIALOGS = [("r", "#plan #apply"), ("?", "#help-dialog"), ("/storm", "#results button.result")]
BUTTONS = [("usage-button", "#usage .summary"), ("states-button", "#states-dialog .notice"), ("status", "#status-dialog p")]


class AppearanceTests(PageCase):
    def test_accessibility(self):
        """axe-core reports no violations in the views and dialogs."""
        if not Settings.axe:
            raise unittest.SkipTest("no --axe")
        with open(Settings.axe, encoding="utf-8") as file:
            axe = file.read()
        self.select("chapter.md")
        for _ in range(3):
            self.step(LEFT)
        self.browser.evaluate(axe + "; 0")
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                self.browser.show_as(width, height, scheme)
                for key, panel in VIEWS:
                    self.browser.press(key)
                    self.wait_for_view(panel)
                    self.check(f"{panel}, {width} x {height}, {scheme}")
                for keys, shown in DIALOGS:
                    self.browser.press(keys)
                    wait_for(shown, lambda: self.browser.text(shown))
                    self.check(f"{shown}, {width} x {height}, {scheme}")
                    self.browser.press(ESCAPE)
                    self.browser.run("document.activeElement?.blur?.()")
                for button, shown in BUTTONS:
                    self.browser.run("document.getElementById(arguments[0]).click()", button)
                    wait_for(shown, lambda: self.browser.text(shown))
                    self.check(f"{shown}, {width} x {height}, {scheme}")
                    self.browser.press(ESCAPE)

    def check(self, name):
        found = self.browser.evaluate("""axe.run().then(({violations}) =>
            violations.flatMap(({id, nodes}) => nodes.map(({target, failureSummary}) => [id, target.join(" "), failureSummary])))""")
        with self.subTest(name):
            self.assertEqual(found, [], json.dumps(found, indent=1)[:2000])

    def test_nothing_is_wider_than_the_page(self):
        """The page fits its window at each size; --pictures stores screenshots."""
        self.select("chapter.md")
        for _ in range(3):
            self.step(LEFT)
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                self.browser.show_as(width, height, scheme)
                for key, view in VIEWS:
                    self.browser.press(key)
                    self.wait_for_view(view)
                    # Firefox has no window below 500 pixels.
                    page, window = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
                    self.assertLessEqual(page, max(width, window) if Settings.geckodriver else width)
                    if Settings.pictures:
                        os.makedirs(Settings.pictures, exist_ok=True)
                        self.browser.picture(os.path.join(Settings.pictures, f"{view}-{width}x{height}-{scheme}.png"))
