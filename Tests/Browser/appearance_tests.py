"""Checks by axe-core's accessibility rules, and screenshots: light and dark, wide and narrow."""

import json
import os
import unittest

from page_case import PageCase, Settings
from webdriver import ENTER, ESCAPE, LEFT, wait_for

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

    def test_everything_can_be_reached(self):
        """Zoomed to 200 % (640 x 400), on a phone and at 320 x 256, each control scrolls into view, and nothing covers it."""
        self.select("chapter.md")
        for _ in range(3):
            self.step(LEFT)
        for width, height in SIZES[1:]:
            self.browser.show_as(width, height)
            for key, view in VIEWS:
                self.browser.press(key)
                self.wait_for_view(view)
                self.assert_reachable(f"{view}, {width} x {height}")
            for keys, shown in DIALOGS:
                self.browser.press(keys)
                wait_for(shown, lambda: self.browser.text(shown))
                self.assert_reachable(f"{shown}, {width} x {height}", shown.split(" ")[0])
                self.browser.press(ESCAPE)
                self.browser.run("document.activeElement?.blur?.()")
            wanted = {"label", "go-first", "go-to", "restore", "restores", "search", "help", "usage-button", "compare-disk", "to-files"}
            seen = set(self.browser.run("return [...document.querySelectorAll('[id]')].filter((each) => each.checkVisibility()).map(({ id }) => id)"))
            self.assertEqual(wanted - seen, set(), (width, height))

    def assert_reachable(self, name, part="body"):
        with self.subTest(name):
            self.assertEqual(self.browser.run("""
                const controls = document.querySelector(arguments[0]).querySelectorAll("button, a[href], select, input, [role=slider], [tabindex='0']");
                const hidden = [...controls].filter((each) => {
                  if (!each.checkVisibility() || each.disabled) return false;
                  each.scrollIntoView({ block: "nearest", inline: "nearest" });
                  const { left, top, right, bottom } = each.getBoundingClientRect();
                  const [x, y] = [(Math.max(0, left) + Math.min(innerWidth, right)) / 2, (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2];
                  const found = document.elementFromPoint(x, y);
                  return !found || !(each.contains(found) || found.contains(each) && found === each.parentElement);
                });
                return hidden.map((each) => each.id || each.outerHTML.slice(0, 120))""", part), [])

    def test_a_phone(self):
        """One tap opens a folder and another one a file; the timeline folds; the search is on the screen."""
        self.browser.show_as(390, 844)
        self.open_page(self.scene.browse()[1])
        wait_for("the folders", lambda: len(self.rows()) > 2)
        count = len(self.rows())
        self.browser.tap("#tree [role=treeitem][aria-expanded]")
        wait_for("what is in it", lambda: len(self.rows()) > count)
        self.assertEqual(self.browser.run("return document.getElementById('detail').checkVisibility()"), False)
        self.assertEqual(self.browser.attribute("#timeline-fold", "aria-expanded"), "false")
        self.assertFalse(self.browser.run("return document.getElementById('scroller').checkVisibility()"))
        self.browser.tap("#timeline-fold")
        wait_for("the timeline", lambda: self.browser.run("return document.getElementById('scroller').checkVisibility()"))
        self.browser.tap("#timeline-fold")
        self.browser.press("/", "chapter", ENTER)
        wait_for("a result", lambda: self.browser.texts("#results button.result"))
        left, top, right, bottom, width, height = self.browser.run("""
            const box = document.getElementById('results').getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom, innerWidth, innerHeight]""")
        self.assertTrue(0 <= left and 0 <= top and right <= width and bottom <= height, (left, top, right, bottom))
        self.browser.tap("#results button.result")
        self.browser.wait_for_text("#title", "chapter.md")
        self.browser.tap("#to-files")
        wait_for("the files", lambda: self.browser.run("return document.getElementById('tree').checkVisibility()"))

    def test_growth_of_one_day(self):
        """The growth of a single day is shown as what it is, and does not fall to nothing."""
        self.browser.run("document.getElementById('usage-button').click()")
        wait_for("the chart", lambda: self.browser.attribute("#usage path.area", "d"))
        self.assertRegex(self.browser.attribute("#usage path.area", "d"), r"L560\.0 8\.0L560 130z$")
        # Tags are wider than their texts.
        self.browser.press(ESCAPE)
        sizes = wait_for("tags", lambda: self.browser.run("""
            return [...document.querySelectorAll("#scroller .moment")].map((each) =>
                ["rect", "text"].map((part) => each.querySelector(part).getBoundingClientRect().width))"""))
        self.assertTrue(all(box > text + 4 for box, text in sizes), sizes)

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
