// Search in all versions: names and lines, shown as they are found. A result opens its moment.

import { button, byId, element, pause, settled } from "./elements.js";
import { isAborted } from "./api.js";
import { bytes, counted } from "./amounts.js";
import { brief } from "./dates.js";
import { escapedLine, folderOf, nameElement, nameOf } from "./names.js";

const most = 60;
/** How long typing must pause before names and lines are searched, in milliseconds. */
const pauses = { names: 250, lines: 1000 };

export class Search {
  #page;
  #input = byId("search");
  #panel = byId("results");
  #request = null;

  constructor(page) {
    this.#page = page;
    const searchSoon = settled(pauses.names, () => this.run());
    this.#input.addEventListener("input", () => {
      this.cancel();
      searchSoon();
    });
    this.#input.addEventListener("focus", () => this.#input.value.trim() && this.#open(true));
    this.#input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        searchSoon.cancel();
        this.run(0);
      }
      if (event.key === "ArrowDown") this.#focus(0);
    });
    this.#panel.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.#focus(this.#buttons().indexOf(document.activeElement) + step);
    });
    byId("search-area").addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.cancel();
      this.#open(false);
      if (document.activeElement === this.#input) this.#page.tree.focus();
      else this.#input.focus();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!byId("search-area").contains(event.target)) this.#open(false);
    });
  }

  focus() {
    this.#input.focus();
    this.#input.select();
  }

  cancel() {
    this.#request?.abort();
    this.#request = null;
    this.#panel.setAttribute("aria-busy", "false");
  }

  #open(isOpen) {
    this.#panel.hidden = !isOpen;
  }

  #buttons() {
    return [...this.#panel.querySelectorAll("button.result")];
  }

  #focus(index) {
    if (index < 0) this.#input.focus();
    else this.#buttons()[index]?.focus();
  }

  /** `pauseBeforeLines`: in milliseconds; lines of all versions take long to search, so not at every letter. */
  async run(pauseBeforeLines = pauses.lines) {
    const words = this.#input.value.trim();
    this.cancel();
    if (!words || !this.#page.position.root) return this.#open(false);
    this.#request = new AbortController();
    const { signal } = this.#request;
    const names = this.#group("Names");
    const lines = this.#group("Lines of any version");
    this.#panel.replaceChildren(names.box, lines.box);
    this.#panel.setAttribute("aria-busy", "true");
    this.#open(true);
    await this.#find("names", words, names, signal, (found) => this.#name(found));
    if (!signal.aborted && pauseBeforeLines) {
      lines.count.textContent = "Enter searches them";
      await pause(pauseBeforeLines);
    }
    if (!signal.aborted) await this.#find("content", words, lines, signal, (found) => this.#line(found, words));
    if (!signal.aborted) this.#panel.setAttribute("aria-busy", "false");
  }

  #group(title) {
    const count = element("span", { class: "muted", role: "status", text: "" });
    const list = element("ul");
    return { count, list, box: element("section", {}, element("h2", {}, title, " ", count), list) };
  }

  async #find(kind, words, group, signal, render) {
    const stop = new AbortController();
    signal.addEventListener("abort", () => stop.abort());
    let count = 0;
    group.count.textContent = "searching… (Esc to stop)";
    const end = (text) => (group.count.textContent = text);
    try {
      await this.#page.api.lines("search", { root: this.#page.position.root, q: words, kind }, (found) => {
        if (found.end) {
          if (found.error) end(found.error.message);
          else end(count ? counted(count, "result") + (found.isTruncated ? ", and more" : "") : "nothing found");
          if (found.damaged) end(`${group.count.textContent}; ${counted(found.damaged, kind === "names" ? "snapshot" : "file")} cannot be read`);
          return;
        }
        count += 1;
        group.list.append(element("li", {}, render(found)));
        if (count < most) return;
        stop.abort();
        end(`the first ${most}; add words to narrow the search`);
      }, stop.signal);
    } catch (error) {
      if (isAborted(error)) {
        if (signal.aborted && count < most) end(counted(count, "result") + ", stopped");
      } else end(error.message);
    }
  }

  #name(found) {
    const when = found.deletedIn ? `deleted ${brief(found.deletedIn.time)}` : "still there";
    const sizes = found.kind === "file" ? bytes(found.size) + ", " : "";
    const result = button("", () => this.#go(found, null), { class: "result" });
    result.append(
      element("span", { class: "where" }, nameElement(nameOf(found.path)), nameElement(folderOf(found.path), "folder")),
      element("span", { class: found.deletedIn ? "when removed" : "when", text: `${sizes}${counted(found.versions, "version")}, ${when}` }));
    return result;
  }

  #line(found, words) {
    const result = button("", () => this.#go(found, found.text), { class: "result" });
    const place = found.text.toLowerCase().indexOf(words.toLowerCase());
    const text = element("span", { class: "text" });
    // Show only the part of a long line around the match.
    const start = Math.max(0, place - 50);
    const cut = (from, to) => escapedLine(found.text.slice(from, to));
    if (place < 0) text.append(cut(0, 240));
    else {
      text.append(start > 0 ? "…" : "", cut(start, place),
        element("mark", { text: cut(place, place + words.length) }), cut(place + words.length, start + 240));
    }
    const since = `since ${brief(found.first.time)}`;
    result.append(text,
      element("span", { class: "where" }, nameElement(nameOf(found.path)), nameElement(folderOf(found.path), "folder")),
      element("span", { class: found.goneIn ? "when removed" : "when", text: found.goneIn
        ? `${since}, gone ${brief(found.goneIn.time)}` : `${since}, still there` }));
    return result;
  }

  #go(found, text) {
    this.#open(false);
    const item = { path: found.path, pathBytes: found.pathBytes, kind: found.kind ?? "file" };
    this.#page.openAt(item, found.lastIn, text);
  }
}
