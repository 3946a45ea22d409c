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
        # Of two compared moments, the older one is meant.
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


    def test_a_comparison_restores_either_side(self):
        """The buttons name both versions by their times, the older one first."""
        self.select("chapter.md")
        self.browser.press("d")
        self.wait_for_view("difference")
        # Captured within moments: at the same time of day in words, they are told apart by seconds or by ids.
        for _ in range(4):
            names = [self.browser.text(f"#{name}") for name in ("restore-older", "restore")]
            for text in names:
                self.assertRegex(text, r"^Restore the version of \d\d:\d\d(:\d\d( \([0-9a-f]{8}\))?)?…$")
            self.assertNotEqual(*names)
            times = [text.removeprefix("Restore the version of ").removesuffix("…") for text in names]
            self.assertEqual(self.browser.text("#difference .sides"), " → ".join(times))
            moment = self.browser.text("#b-id")
            self.browser.press(LEFT)
            self.wait_for_moment(lambda short: short != moment)
            wait_for("the next comparison", lambda: times[0] != self.browser.text("#difference .sides").split(" → ")[0])
            self.wait_for_view("difference")
        self.browser.run("document.getElementById('restore-older').click()")
        self.assertIn("1 written", self.wait_for_plan())
        title = self.browser.text("#plan-title")
        self.browser.press(ESCAPE)
        self.browser.run("document.getElementById('restore').click()")
        self.assertIn("1 written", self.wait_for_plan())
        self.assertNotEqual(self.browser.text("#plan-title"), title)
        self.browser.press(ESCAPE)

    def test_a_paragraph_is_put_back_and_undone(self):
        """One hunk returns into the file of today, which keeps what was written since; undo takes it out."""
        self.select("chapter.md")
        for _ in range(3):
            self.step(LEFT)
        self.browser.press("d")
        wait_for("the cut", lambda: any(STORM in text for text in self.browser.texts("#difference del.line")))
        before = self.scene.read("chapter.md")
        self.browser.run("document.querySelector('#difference .put-back').click()")
        self.wait_for_plan()
        self.assertTrue(any(STORM in text for text in self.browser.texts("#plan ins.line")))
        self.browser.press(ENTER)
        self.browser.wait_for_text("#message", "Put lines back into chapter.md")
        after = self.scene.read("chapter.md")
        self.assertIn(STORM, after)
        self.assertEqual(set(before.splitlines()) - set(after.splitlines()), set())
        self.browser.press("u")
        self.browser.wait_for_text("#message", "Redo")
        self.assertEqual(self.scene.read("chapter.md"), before)

    def test_the_file_on_disk_is_compared_without_a_watcher(self):
        """n compares with the files on disk; an edit that no snapshot has is shown, and taken back by its hunk."""
        before = self.scene.read("chapter.md")
        self.scene.write("chapter.md", before.replace("# Section 1", "# A new title"))
        self.select("chapter.md")
        self.browser.press("d", "n")
        self.browser.wait_for_text("#a-time", "on disk now")
        wait_for("the edit", lambda: any("A new title" in text for text in self.browser.texts("#difference ins.line")))
        self.assertEqual(self.browser.text("#restore"), "")
        self.assertIn("archiver diff --text", self.browser.text("#command"))
        self.browser.run("document.querySelector('#difference .put-back').click()")
        self.wait_for_plan()
        self.browser.press(ENTER)
        self.browser.wait_for_text("#difference", "the same at both moments")
        self.assertEqual(self.scene.read("chapter.md"), before)

    def test_an_old_version_is_copied_beside_the_file(self):
        """The copy is called after the time of its version, and nothing else changes."""
        before = contents(self.scene.root)
        self.step(HOME)
        self.select("chapter.md")
        self.browser.press("c")
        name = wait_for("the name", lambda: self.browser.run("return document.getElementById('copy-name')?.value"))
        self.assertRegex(name, r"^chapter \(\d\d:\d\d\)\.md$")
        self.browser.press(ENTER)
        self.wait_for_plan()
        self.browser.press(ENTER)
        self.browser.wait_for_text("#message", "Wrote a copy")
        self.assertIn("draft 0", self.scene.read(name))
        os.remove(os.path.join(self.scene.root, name))
        self.assert_tree(before)

    def test_the_first_step_back_shows_a_different_version(self):
        """From a moment at which the file did not change, the first step leads past its present version."""
        self.scene.write("other.txt", "other\n")
        latest = self.scene.capture()
        self.wait_for_moment(lambda short: short == latest[:8])
        self.select("chapter.md")
        wait_for("the text", lambda: "happens again 2" in self.browser.text("#preview"))
        self.browser.run("document.getElementById('version-earlier').click()")
        wait_for("another version", lambda: "happens again 2" not in self.browser.text("#preview") and "happens again 1" in self.browser.text("#preview"))


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

    def test_chosen_rows_of_deleted_are_restored_together(self):
        """Checkboxes choose entries that were deleted at different times; one plan restores them, one undo removes them."""
        self.remove_much()
        before = contents(self.scene.root)
        self.browser.run("document.getElementById('filter-deleted').click()")
        rows = wait_for("the deleted entries", lambda: (found := self.rows()) and all("deleted" in row[0] for row in found) and found)
        chosen = ("twice.txt", "link.txt", "todo.txt")
        for name in chosen:
            self.browser.run("""[...document.querySelectorAll('#tree [role=treeitem]')]
                .find((row) => row.ariaLabel.startsWith(arguments[0])).querySelector('.check').click()""", name)
        self.browser.wait_for_text("#restore", f"{len(chosen)} entries")
        self.restore_shown()
        for name in ("twice.txt", "link.txt", "notes/todo.txt"):
            self.assertTrue(os.path.lexists(os.path.join(self.scene.root, name)), name)
        self.assertLess(len(chosen), len(rows))
        self.browser.press("u")
        self.browser.wait_for_text("#message", "Redo")
        self.assert_tree(before)

    def test_every_deleted_name_of_a_search_is_restored(self):
        """A result opens the last moment that has the name, a renamed one too."""
        self.remove_much()
        restored = []
        while True:
            self.browser.run("document.querySelector('#results section')?.remove()")
            self.browser.press("/", ".txt", ENTER)
            wait_for("all names", lambda: self.browser.run("""
                const panel = document.getElementById("results");
                return !panel.hidden && panel.ariaBusy === "false" && panel.querySelector("section")"""))
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
