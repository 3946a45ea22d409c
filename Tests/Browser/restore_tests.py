"""Finding, comparing, restoring and undoing with the keyboard alone."""

import os
import shutil

from archive_scene import STORM, contents
from page_case import PageCase
from webdriver import DOWN, END, ENTER, ESCAPE, HOME, LEFT, SPACE, wait_for


class RestoreTests(PageCase):
    def test_a_deleted_section_is_found_restored_and_undone(self):
        """Searches, views, compares, plans, applies and undoes by keyboard; the tree's bytes are right after each step."""
        before = contents(self.scene.root)
        browser = self.browser
        browser.press("/", "the storm broke")
        wait_for("a found line", lambda: any(STORM in text for text in browser.texts("#results button.result")))
        browser.press(DOWN, ENTER)
        browser.wait_for_text("#preview .line.found", STORM)
        self.assertEqual(browser.text("#b-id"), self.scene.before_cut[:8])
        self.step("]", self.scene.cut)
        browser.press("d")
        wait_for("the cut in the diff", lambda: any(STORM in text for text in browser.texts("#difference del.line.removed")))
        self.assertIn("archiver diff", browser.text("#command"))
        self.step("[", self.scene.before_cut)
        browser.press("r")
        self.assertIn("1 written, 0 removed", self.wait_for_plan())
        self.assert_tree(before)
        browser.press(ENTER)
        browser.wait_for_text("#message", "1 written")
        self.assertEqual(self.scene.read("chapter.md"), self.scene.uncut)
        after = contents(self.scene.root)
        self.assertEqual({name for name in before if before[name] != after.get(name)}, {b"chapter.md"})
        browser.press("u")
        browser.wait_for_text("#message", "Redo")
        self.assert_tree(before)

    def test_stepping_back_to_the_version_before_a_cut(self):
        """A user who knows only the file's name selects it, shows the diff, and steps back until the section appears."""
        self.select("chapter.md")
        self.browser.press("d")
        wait_for("a diff", lambda: self.browser.texts("#difference .line"))
        for steps in range(1, 10):
            short = self.step(LEFT)
            self.wait_for_view("difference")
            if any("# Section 3" in line for line in self.browser.texts("#difference del.line")):
                break
        self.assertEqual((short, steps), (self.scene.cut[:8], 3))
        self.assertEqual(self.step(LEFT), self.scene.before_cut[:8])
        self.browser.wait_for_text("#b-label", "before the cut")
        self.browser.press("p")
        self.browser.wait_for_text("#preview", STORM)

    def test_any_two_moments_can_be_compared(self):
        """A stays at its moment while B moves to the other end."""
        self.select("summary.txt")
        self.step(HOME)
        self.browser.press("a")
        self.browser.wait_for_text("#a-kind", "kept")
        self.step(END, self.scene.latest)
        self.browser.press("d")
        wait_for("the diff", lambda: any("After the cut 2." in text for text in self.browser.texts("#difference ins.line")))
        self.assertTrue(any("Draft 0." in text for text in self.browser.texts("#difference del.line")))

    def test_several_files_are_restored_and_undone_together(self):
        """Space chooses files; Undo reverses a whole restore."""
        before = contents(self.scene.root)
        self.step(HOME)
        self.select("chapter.md")
        self.browser.press(SPACE)
        self.select("summary.txt")
        self.browser.press(SPACE)
        self.browser.wait_for_text("#restore", "2 entries")
        self.browser.press("r")
        self.assertIn("2 written", self.wait_for_plan())
        self.browser.press(ENTER)
        self.browser.wait_for_text("#message", "2 written")
        self.assertEqual(self.scene.read("summary.txt"), "Draft 0.\n" * 3)
        self.browser.press("u")
        self.browser.wait_for_text("#message", "Redo")
        self.assert_tree(before)

    def test_an_outdated_plan_is_not_applied(self):
        """If the tree changes between plan and Apply, nothing is written and a new plan is shown."""
        self.step(HOME)
        self.select("chapter.md")
        self.browser.press("r")
        self.wait_for_plan()
        os.remove(os.path.join(self.scene.root, "chapter.md"))
        before = contents(self.scene.root)
        self.browser.press(ENTER)
        self.browser.wait_for_text("#plan [role=alert]", "has changed since")
        self.browser.wait_for_text("#plan li.create", "chapter.md")
        self.assert_tree(before)
        self.browser.press(ESCAPE)
        wait_for("no dialog", lambda: not self.browser.texts("dialog"))
        self.assert_tree(before)

    def test_a_moment_gets_a_label(self):
        """The label appears on the page and is stored in the archive."""
        self.browser.press("l")
        wait_for("the field", lambda: self.browser.attribute("#label-text", "type"))
        self.browser.press("to the printer", ENTER)
        self.browser.wait_for_text("#b-label", "to the printer")
        self.assertIn(b"to the printer", self.scene.run("list", "--root", self.scene.root))


class DeletedTests(PageCase):
    def remove_much(self):
        """Captures removals of many kinds."""
        scene = self.scene
        for name in ("folder/a.txt", "folder/deep/b.txt", "twice.txt", "old name.txt", "emptied/c.txt", "kind"):
            scene.write(name, f"{name}, long enough to be recognised when it is renamed\n")
        os.symlink("chapter.md", os.path.join(scene.root, "link.txt"))
        scene.capture()
        for name in ("twice.txt", "link.txt", "kind"):
            os.remove(os.path.join(scene.root, name))
        shutil.rmtree(os.path.join(scene.root, "folder"))
        scene.capture()
        scene.write("twice.txt", "a second time\n")
        scene.write("kind/inside.txt", "now a directory\n")
        os.rename(os.path.join(scene.root, "old name.txt"), os.path.join(scene.root, "new name.txt"))
        scene.capture()
        for name in ("twice.txt", "emptied/c.txt"):
            os.remove(os.path.join(scene.root, name))
        shutil.rmtree(os.path.join(scene.root, "kind"))
        shutil.rmtree(os.path.join(scene.root, "hostile"))
        return scene.capture()

    def restore_shown(self):
        self.browser.press("r")
        self.assertNotIn("Nothing to do", self.wait_for_plan())
        self.browser.press(ENTER)
        wait_for("no dialog", lambda: not self.browser.texts("dialog"))
        self.browser.wait_for_text("#message", "Restored")

    def test_every_row_of_deleted_is_restored(self):
        """Each row shows the entry as it was last; r and Enter restore it, and it leaves the list."""
        before = contents(self.scene.root)
        self.remove_much()
        self.browser.run("document.getElementById('filter-deleted').click()")
        rows = wait_for("the deleted entries", lambda: (found := self.rows()) and all("deleted" in row[0] for row in found) and found)
        for name in ("folder", "twice.txt", "link.txt", "kind", "c.txt", "hostile", "todo.txt"):
            self.assertTrue(any(label.startswith(name) for label, _ in rows), (name, rows))
        while rows:
            self.browser.run("document.querySelector('#tree [role=treeitem]').click()")
            name = rows[0][0].split(",")[0]
            self.browser.wait_for_text("#title", name[:8])
            self.restore_shown()
            rows = wait_for(lambda: f"{name} leaves {rows}", lambda: len(left := self.rows()) < len(rows) and [left])[0]
        self.browser.wait_for_text("#tree-empty", "No deleted files")
        after = contents(self.scene.root)
        self.assertEqual({name for name in before if before[name] != after.get(name)}, set())

    def test_every_deleted_name_of_a_search_is_restored(self):
        """A result opens the last moment that has the name, a renamed one too."""
        self.remove_much()
        restored = []
        while True:
            self.browser.press("/", ".txt", ENTER)
            self.browser.wait_for_text("#results section .muted", "result")
            found = self.browser.run("""
                const rows = [...document.querySelectorAll('#results section:first-child button.result')];
                const row = rows.find((row) => row.querySelector('.when.removed'));
                row?.focus();
                row?.click();
                return row ? row.querySelector('.where').textContent : null""")
            if not found:
                break
            self.restore_shown()
            restored.append(found)
            self.assertLess(len(restored), 20)
        self.assertGreater(len(restored), 4)
        for name in ("old name.txt", "folder/a.txt", "folder/deep/b.txt", "twice.txt", "link.txt", "kind/inside.txt"):
            self.assertTrue(os.path.lexists(os.path.join(self.scene.root, name)), name)
