"""The first five tasks of a person who has never seen the page, done with the mouse; their clicks are counted and printed."""

import os
import shutil

from archive_scene import STORM, contents, image
from page_case import PageCase
from webdriver import ENTER, wait_for

# Brings the element with these words into view, and clicks it if nothing covers it.
CLICK = """
    const [selector, words] = arguments;
    const found = [...document.querySelectorAll(selector)].find((each) => each.checkVisibility() && !each.disabled && each.textContent.includes(words));
    if (!found) return false;
    found.scrollIntoView({ block: "nearest" });
    const { left, top, width, height } = found.getBoundingClientRect();
    if (!found.contains(document.elementFromPoint(left + width / 2, top + height / 2))) return false;
    found.click();
    return true;"""


class TaskTests(PageCase):
    def setUp(self):
        super().setUp()
        self.clicks = 0

    def click(self, selector, words=""):
        wait_for(f"{words} {selector}", lambda: self.browser.run(CLICK, selector, words))
        self.clicks += 1

    def expect_clicks(self, count):
        print(f"\n  {self.clicks} clicks")
        self.assertLessEqual(self.clicks, count)

    def apply(self):
        self.click("#apply")
        wait_for("no dialog", lambda: not self.browser.texts("dialog"))

    def test_a_deleted_paragraph(self):
        """Search some words of it, step to the version without it, and put its lines back."""
        before = self.scene.read("chapter.md")
        self.browser.press("/", "storm", ENTER)
        self.click("#results button.result", STORM)
        self.click("#version-later")
        self.click("#tab-diff")
        wait_for("the cut in the diff", lambda: any(STORM in text for text in self.browser.texts("#difference del.line.removed")))
        self.click(".put-back", "Put these lines back")
        self.apply()
        self.browser.wait_for_text("#message", "Put lines back")
        self.assertIn(STORM, self.scene.read("chapter.md"))
        self.assertNotEqual(self.scene.read("chapter.md"), self.scene.uncut, "later changes stay")
        self.assertNotEqual(self.scene.read("chapter.md"), before)
        self.expect_clicks(5)

    def test_a_deleted_folder(self):
        """Deleted has it, with everything in it."""
        wanted = contents(os.path.join(self.scene.root, "hostile"))
        shutil.rmtree(os.path.join(self.scene.root, "hostile"))
        self.scene.capture()
        self.click("#filter-deleted")
        self.click("#tree [role=treeitem]", "hostile")
        self.click("#restore", "Restore hostile")
        self.apply()
        self.browser.wait_for_text("#message", "Restored")
        self.assertEqual(contents(os.path.join(self.scene.root, "hostile")), wanted)
        self.expect_clicks(4)

    def test_an_earlier_picture(self):
        """The step to the earlier version shows it."""
        self.click("#tree [role=treeitem]", "picture.png")
        latest = self.browser.text("#b-id")
        self.click("#version-earlier")
        self.wait_for_moment(lambda short: short != latest)
        wait_for("the older picture", lambda: self.browser.run("return document.querySelector('#preview img')?.naturalWidth") == 64)
        self.click("#restore", "Restore picture.png")
        self.apply()
        self.browser.wait_for_text("#message", "Restored")
        with open(os.path.join(self.scene.root, "picture.png"), "rb") as file:
            self.assertEqual(file.read(), image(200))
        self.expect_clicks(4)

    def test_what_changed_since(self):
        """A moment is chosen by its time, and compared with now."""
        time = self.browser.run("return document.getElementById('b-time').textContent")
        self.scene.write("since.txt", "since\n")
        self.click("#go-to")
        self.assertTrue(time)
        self.click("#go-to-go")
        self.click("#compare-disk")
        self.click("#filter-changed")
        wait_for("the change", lambda: any(label.startswith("since.txt") for label, _ in self.rows()))
        self.expect_clicks(4)

    def test_undo(self):
        """One click takes the last restore back."""
        before = contents(self.scene.root)
        self.click("#tree [role=treeitem]", "picture.png")
        latest = self.browser.text("#b-id")
        self.click("#version-earlier")
        self.wait_for_moment(lambda short: short != latest)
        self.click("#restore", "Restore picture.png")
        self.apply()
        self.clicks = 0
        self.click("#undo")
        self.browser.wait_for_text("#message", "Redo")
        self.assert_tree(before)
        self.expect_clicks(1)
