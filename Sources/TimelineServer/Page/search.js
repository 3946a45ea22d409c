// Search in all versions: names and lines, shown as they are found, the newest first. A result opens its moment.

import { button, byId, element, pause, settled } from "./elements.js";
import { isAborted } from "./api.js";
import { bytes, counted, number } from "./amounts.js";
import { brief, day, hour, startOfDay } from "./dates.js";
import { escapedLine, folderOf, nameElement, nameOf, pathQuery, shortened } from "./names.js";

/** How many results are shown at first, and how many more at a time. */
const step = 60;
/** How long typing must pause before names and lines are searched, in milliseconds. */
const pauses = { names: 250, lines: 1000 };

const times = [
  ["any time", () => null], ["the last hour", () => Date.now() - hour], ["today", () => startOfDay(Date.now())],
  ["the last 7 days", () => startOfDay(Date.now() - 6 * day)], ["the last 30 days", () => startOfDay(Date.now() - 29 * day)],
  ["the last year", () => startOfDay(Date.now() - 364 * day)],
];

export class Search {
  #page;
  #input = byId("search");
  #panel = byId("results");
  #found = element("div");
  #scope = element("select", { id: "search-scope", "aria-label": "Where to search" });
  #since = element("select", { id: "search-since", "aria-label": "Changed since" },
    ...times.map(([text], index) => element("option", { value: index, text: index ? `changed ${text === "today" ? text : `in ${text}`}` : text })));
  #isGoneOnly = element("input", { id: "search-gone", type: "checkbox" });
  #request = null;

  constructor(page) {
    this.#page = page;
    this.#panel.append(
      element("div", { class: "scope", role: "group", "aria-label": "Scope" }, this.#scope, this.#since,
        element("label", {}, this.#isGoneOnly, " only deleted")),
      this.#found);
    const searchSoon = settled(pauses.names, () => this.run());
    this.#input.addEventListener("input", () => {
      this.cancel();
      searchSoon();
    });
    for (const choice of [this.#scope, this.#since, this.#isGoneOnly]) choice.addEventListener("change", () => this.run(0));
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
      if (!step || event.target instanceof HTMLSelectElement) return;
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
    if (isOpen) this.#fillScope();
  }

  /** Offers the selected file and its directory as places to search. */
  #fillScope() {
    const { item } = this.#page.position;
    const folder = item && (item.kind === "directory" ? item : item.pathBytes ? null : { path: folderOf(item.path) });
    const places = [["everywhere", {}]];
    if (folder?.path) places.push([`in ${shortened(nameOf(folder.path), 30)}/`, folder]);
    if (item && item.kind !== "directory") places.push([`in ${shortened(nameOf(item.path), 30)}`, item]);
    const chosen = Math.min(Math.max(0, this.#scope.selectedIndex), places.length - 1);
    this.#scope.replaceChildren(...places.map(([text, place], index) =>
      Object.assign(element("option", { value: index, text }), { place: place.path ? pathQuery(place) : {} })));
    this.#scope.selectedIndex = chosen;
  }

  get #query() {
    return {
      ...this.#scope.selectedOptions[0]?.place, since: times[this.#since.selectedIndex]?.[1]() ?? null,
      deleted: this.#isGoneOnly.checked ? 1 : null,
    };
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
    const names = new Group("Names", (found) => this.#name(found));
    const lines = new Group("Lines of any version", (found) => this.#line(found, words));
    this.#found.replaceChildren(names.box, lines.box);
    this.#panel.setAttribute("aria-busy", "true");
    this.#open(true);
    await this.#find("names", words, names, signal);
    if (!signal.aborted && pauseBeforeLines) {
      lines.say("Enter searches them");
      await pause(pauseBeforeLines);
    }
    if (!signal.aborted) await this.#find("content", words, lines, signal);
    if (!signal.aborted) this.#panel.setAttribute("aria-busy", "false");
  }

  async #find(kind, words, group, signal) {
    group.say("searching… (Esc to stop)");
    try {
      await this.#page.api.lines("search", { root: this.#page.position.root, q: words, kind, ...this.#query }, (found) => {
        if (signal.aborted) return;
        if (found.progress !== undefined) {
          return group.say(`searching: ${number(found.progress)} of ${counted(found.total, "file")}, ${counted(group.count, "result")} (Esc to stop)`);
        }
        if (!found.end) return group.add(found);
        let text = group.count ? counted(group.count, "result") + (found.isTruncated ? "; there are more: add words to narrow the search" : "") : "nothing found";
        if (found.error) text = found.error.message;
        if (found.damagedCount) text += `; ${counted(found.damagedCount, kind === "names" ? "snapshot" : "file")} cannot be read`;
        group.show();
        group.say(text);
      }, signal);
    } catch (error) {
      if (isAborted(error)) group.say(counted(group.count, "result") + ", stopped");
      else group.say(error.message);
      group.show();
    }
  }

  #name(found) {
    const when = found.deletedIn ? `deleted ${brief(found.deletedIn.time)}` : `changed ${brief(found.lastChangedIn.time)}`;
    const sizes = found.kind === "file" ? bytes(found.size) + ", " : "";
    const result = button("", () => this.#go(found), { class: "result" });
    result.append(
      element("span", { class: "where" }, nameElement(nameOf(found.path)), nameElement(folderOf(found.path), "folder")),
      element("span", { class: found.deletedIn ? "when removed" : "when", text: `${sizes}${counted(found.versions, "version")}, ${when}` }));
    return result;
  }

  #line(found, words) {
    const result = button("", () => this.#go(found, { line: found.line, words }), { class: "result" });
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
    // A line that an edit took away is changed; only one whose file is gone is deleted.
    const end = !found.goneIn ? "still there" : `${found.deleted ? "deleted" : "changed"} ${brief(found.goneIn.time)}`;
    result.append(text,
      element("span", { class: "where" }, nameElement(nameOf(found.path)), nameElement(folderOf(found.path), "folder")),
      element("span", { class: found.deleted ? "when removed" : "when", text: `${since}, ${end}` }));
    return result;
  }

  #go(found, find = null) {
    this.#open(false);
    const item = { path: found.path, pathBytes: found.pathBytes, kind: found.kind ?? "file" };
    this.#page.openAt(item, found.lastIn, find);
  }
}

/** The latest time at which something happened to a result. */
const timeOf = (found) => (found.goneIn ?? found.lastChangedIn ?? found.first).time;

/** The results of one kind, the newest first. */
class Group {
  #render;
  #results = [];
  #shown = step;
  #status = element("span", { class: "muted", role: "status" });
  #list = element("ul");
  #more = button("Show more", () => {
    this.#shown += 4 * step;
    this.show();
  }, { class: "plain more-results", hidden: true });
  box;

  constructor(title, render) {
    this.#render = render;
    this.box = element("section", {}, element("h2", {}, title, " ", this.#status), this.#list, this.#more);
  }

  get count() {
    return this.#results.length;
  }

  say(text) {
    this.#status.textContent = text;
  }

  add(found) {
    this.#results.push({ found, time: timeOf(found), row: null });
    if (this.count === 1) this.show();
    else this.#showSoon();
  }

  #timer = 0;

  #showSoon() {
    this.#timer ||= setTimeout(() => this.show(), 150);
  }

  show() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#results.sort((one, other) => other.time - one.time);
    const rows = this.#results.slice(0, this.#shown).map((each) => (each.row ??= element("li", {}, this.#render(each.found))));
    // Rows that stay are not moved, so that the focus stays in them.
    let next = this.#list.firstChild;
    for (const row of rows) {
      if (row === next) next = next.nextSibling;
      else this.#list.insertBefore(row, next);
    }
    for (let row = next; row;) {
      const after = row.nextSibling;
      row.remove();
      row = after;
    }
    const rest = this.count - rows.length;
    this.#more.hidden = rest <= 0;
    this.#more.textContent = `Show more (${number(rest)})`;
  }
}
