"""Texts are shown as texts: other encodings, large ones, long lines, and which change introduced a line."""

import os

from page_case import PageCase
from webdriver import ENTER, wait_for

# Selects an entry by its row, and returns how long it took until its text was laid out in a panel, in milliseconds.
# In other panels than the preview, its text is recognised by some words of it.
SHOW = """
    const [name, done] = [arguments[0], arguments[arguments.length - 1]];
    const row = [...document.querySelectorAll("#tree [role=treeitem]")].find((each) => each.ariaLabel.startsWith(name));
    const began = performance.now();
    const panel = document.getElementById(arguments[1]);
    const words = arguments[2];
    const wait = () => {
      const isShown = panel.id === "preview" ? panel.dataset.path === name : panel.textContent.includes(words);
      if (isShown && panel.ariaBusy === "false") {
        panel.scrollHeight;
        return done(performance.now() - began);
      }
      requestAnimationFrame(wait);
    };
    row.click();
    wait();"""


class TextTests(PageCase):
    def show(self, files):
        """Captures files, opens the page, and waits for their rows."""
        for name, data in files.items():
            self.scene.write(name, data)
        self.scene.capture()
        self.open_page(self.scene.browse()[1])
        wait_for("the rows", lambda: {label.split(",")[0] for label, _ in self.rows()} >= set(files))

    def lines(self, panel, part=""):
        return self.browser.texts(f"#{panel} .line{part}")

    def test_other_encodings_and_line_ends_are_named(self):
        """Latin-1, UTF-16 with and without a mark, and CRLF are texts in the preview, the diff and the blame."""
        texts = {
            "crlf.txt": ("one\r\ntwo café\r\n", "utf-8", "CRLF line ends"), "latin.txt": ("one\ntwo café\n", "latin-1", "Latin-1"),
            "wide.txt": ("\ufeffone\r\ntwo café\r\n", "utf-16-le", "UTF-16"), "plain-wide.txt": ("one\ntwo café\n", "utf-16-be", "UTF-16"),
        }
        self.show({name: text.replace("two", "2").encode(encoding) for name, (text, encoding, _) in texts.items()})
        self.show({name: text.encode(encoding) for name, (text, encoding, _) in texts.items()})
        for name, (_, _, words) in texts.items():
            with self.subTest(name):
                self.select(name)
                self.browser.press("p")
                self.browser.wait_for_text("#preview .facts", words)
                self.assertEqual(self.lines("preview"), ["one", "two café"])
                self.browser.press("d")
                self.browser.wait_for_text("#difference .diff-head", words)
                self.assertEqual(self.lines("difference", ".added"), ["two café"])
                self.browser.press("b")
                self.wait_for_view("blame")
                self.browser.wait_for_text("#blame .line:last-of-type .words", "two café")
                if words != "CRLF line ends":
                    self.browser.wait_for_text("#blame .facts", words)

    def test_a_text_is_wholly_in_the_page(self):
        """The browser finds and copies any of 4,900 lines."""
        self.show({"long.txt": "".join(f"sentence {number}\n" for number in range(4900))})
        self.select("long.txt")
        wait_for("the lines", lambda: len(self.lines("preview")) == 4900)
        copied = self.browser.run("""
            getSelection().selectAllChildren(document.querySelector('#preview .pieces'));
            const text = String(getSelection());
            getSelection().removeAllRanges();
            return text""")
        self.assertEqual(copied.split(), [word for number in range(4900) for word in ("sentence", str(number))])
        self.assertTrue(self.browser.run("return window.find('sentence 4899')"))

    def test_a_large_text_is_shown_to_its_end(self):
        """Beyond a mebibyte a text grows by a piece whenever its end comes into view."""
        self.show({"large.txt": "".join(f"sentence {number} of a large text\n" for number in range(100_000))})
        self.select("large.txt")
        self.browser.wait_for_text("#preview .facts", "The first 1")
        end = """
            const panel = document.getElementById('preview');
            panel.scrollTop = panel.scrollHeight;
            return [...panel.querySelectorAll('.line')].at(-1)?.textContent"""
        wait_for("the last line", lambda: self.browser.run(end) == "sentence 99999 of a large text")
        self.assertNotIn("The first", self.browser.text("#preview .facts"))
        self.assertIn("100,000 lines", self.browser.text("#preview .facts").replace("\u202f", ","))

    def test_a_found_line_comes_into_view(self):
        """Also far behind the first mebibyte, in a very long line, and where line ends or letters are of another kind."""
        words = " ".join(f"word{number}" for number in range(3000))
        self.show({
            "large.txt": "".join(f"sentence {number} of a large text\n" for number in range(100_000)) + "a far harbour: one\n",
            "crlf.txt": "first\r\n" * 300 + "a far harbour: two\r\n", "latin.txt": "café, a far harbour: three\n".encode("latin-1"),
            "long.txt": f"{words} a far harbour: four {words}\n",
        })
        self.browser.press("/", "A far harbour", ENTER)
        found = wait_for("the results", lambda: len(found := self.browser.texts("#results button.result .text")) == 4 and found)
        self.assertEqual({text for text in found if len(text) < 40}, {"a far harbour: one", "a far harbour: two", "café, a far harbour: three"})
        for number, text in enumerate(found):
            with self.subTest(text):
                self.browser.run("document.querySelectorAll('#results button.result')[arguments[0]].click()", number)
                place = text.index("a far harbour: ")
                self.browser.wait_for_text("#preview .line.found", " ".join(text[place:].split()[:4]))
                wait_for("the line in view", lambda: self.browser.run("""
                    const panel = document.getElementById("preview").getBoundingClientRect();
                    const { top, bottom } = document.querySelector("#preview .line.found").getBoundingClientRect();
                    return top < panel.bottom && bottom > panel.top"""))

    def test_a_line_of_a_mebibyte_is_shown(self):
        """A text that is one long line is shown in rows; the time is printed."""
        # The rows are cut where some letter has two units.
        long = "word 🏡 " * (((1 << 20) - 4) // 10)
        self.scene.write("line.txt", long)
        self.scene.capture()
        changed = long[:350_000] + "new " + long[350_000:]
        self.show({"line.txt": changed, "other.txt": "other\n"})
        times = []
        for name in ("line.txt", "other.txt", "line.txt"):
            times.append(round(self.browser.run_async(SHOW, name, "preview", "")))
        print(f"\n  one line of 1 MiB is shown in {times[0]} ms, again in {times[2]} ms; a short text in {times[1]} ms")
        self.assertEqual("".join(self.lines("preview")), changed)
        for key, panel, words in (("d", "difference", "unchanged letters"), ("b", "blame", long[:1000])):
            self.browser.run_async(SHOW, "other.txt", "preview", "")
            self.browser.press(key)
            wait_for(panel, lambda: self.browser.run("return document.getElementById(arguments[0]).ariaBusy", panel) == "false")
            print(f"  in the {panel}: {round(self.browser.run_async(SHOW, 'line.txt', panel, words))} ms")
            if panel == "blame":
                self.assertEqual("".join(self.browser.texts("#blame .line .part")), changed)
                # Each part stands below the one before it.
                self.assertEqual(self.browser.run("""
                    const all = [...document.querySelectorAll("#blame .line .part")].map((each) => each.getBoundingClientRect());
                    return all.filter((each, index) => index > 0 && each.top < all[index - 1].bottom - 1).length"""), 0)
            self.browser.press("p")

    def test_the_differences_of_a_long_line_are_in_view(self):
        """What is equal in a long line that was changed at two places is skipped, as equal lines are."""
        long = [f"{number} 🏡 " for number in range(40_000)]
        self.scene.write("line.txt", "".join(long))
        self.scene.capture()
        long[20_000] = "twenty thousand 🏡 "
        self.show({"line.txt": "".join(long)})
        self.select("line.txt")
        self.browser.press("d")
        wait_for("the lines", lambda: len(self.lines("difference", ".added")) == 1)
        self.assertEqual(self.browser.texts("#difference mark"), ["20000", "twenty thousand"])
        shown = [self.lines("difference", part)[0] for part in (".removed", ".added")]
        for text, word in zip(shown, ("20000", "twenty thousand")):
            self.assertLess(len(text), 1000)
            self.assertRegex(text, "^ … [0-9,\u202f]+ unchanged letters … ")
            self.assertRegex(text, " … [0-9,\u202f]+ unchanged letters … $")
            self.assertIn(f"19999 🏡 {word} 🏡 20001", text)
            self.assertNotIn("\ufffd", text)
        wait_for("the words in view", lambda: self.browser.run("""
            const panel = document.getElementById("difference").getBoundingClientRect();
            return [...document.querySelectorAll("#difference mark")].every((each) => {
              const { top, bottom } = each.getBoundingClientRect();
              return top >= panel.top && bottom <= panel.bottom;
            })"""))

    def test_blame_goes_to_the_version_before_a_change(self):
        """The button beside a line's origin shows the blame before that change, under the file's earlier name."""
        lines = [f"line {number}, long enough to be recognised after a rename\n" for number in range(6)]
        self.scene.write("old.txt", "".join(lines))
        first = self.scene.capture()
        os.remove(os.path.join(self.scene.root, "old.txt"))
        lines[3] = "line 3 is new\n"
        self.show({"new.txt": "".join(lines)})
        self.select("new.txt")
        self.browser.press("b")
        wait_for("the blame", lambda: len(self.lines("blame")) == 6)
        buttons = "return [...document.querySelectorAll('#blame .line')].map((line) => line.querySelector('.before') !== null)"
        self.assertEqual(self.browser.run(buttons), [False, False, False, True, False, False])
        self.browser.run("document.querySelector('#blame .before').click()")
        self.wait_for_moment(lambda short: short == first[:8])
        self.browser.wait_for_text("#title", "old.txt")
        wait_for("the earlier line", lambda: any("line 3, long enough" in line for line in self.lines("blame")))
        self.assertEqual(self.browser.run(buttons), [False] * 6)
