// The tree at B: changed, all or deleted entries. Up and down select, Enter opens a directory, Space chooses for a
// restore. Left and right are left to the page: they move through time.

import { byId, element, settled } from "./elements.js";
import { bytes, changeWords, counted, marks } from "./amounts.js";
import { brief } from "./dates.js";
import { Folders } from "./folders.js";
import { escaped, folderOf, nameElement, nameOf, samePlace } from "./names.js";
import { Rows } from "./rows.js";
import { isAborted } from "./api.js";

const isNarrow = matchMedia("(max-width: 760px)");
const emptyTexts = {
  all: "This directory is empty at this moment.",
  changed: "No file differs between the two moments.",
  deleted: "No deleted files: everything that was captured is still there.",
};

export class Tree extends EventTarget {
  filter = "all";
  chosen = new Map();
  #page;
  #folders;
  #rows = [];
  /** The moments that the rows belong to. */
  #moments = "";
  #list;
  #request = null;
  #box = byId("tree");

  constructor(page) {
    super();
    this.#page = page;
    this.#folders = new Folders(page.api);
    this.#list = new Rows(this.#box, 28, (index) => this.#render(index), {
      onactive: (index, event) => this.#activate(index, event),
      onkey: (event, index) => this.#key(event, index),
    });
    for (const name of ["changed", "all", "deleted"]) {
      byId(`filter-${name}`).addEventListener("click", () => this.setFilter(name));
    }
    page.position.addEventListener("change", ({ detail }) => {
      if (detail.has("root")) this.#reset();
      if (detail.has("item")) this.#follow();
      if (detail.has("root") || detail.has("b") || detail.has("pinnedA")) this.#reloadSoon(detail.has("root"));
    });
  }

  setFilter(name) {
    this.filter = name;
    for (const each of ["changed", "all", "deleted"]) {
      byId(`filter-${each}`).setAttribute("aria-pressed", String(each === name));
    }
    this.reload();
  }

  clearChosen() {
    this.chosen.clear();
    this.#list.update(this.#rows.length);
    this.dispatchEvent(new Event("choose"));
  }

  focus() {
    this.#box.focus();
  }

  #reset() {
    this.#folders = new Folders(this.#page.api);
    this.chosen.clear();
    this.#clear();
    this.dispatchEvent(new Event("choose"));
  }

  /** Reloads the deleted entries if they are shown: one may have been restored, or another one deleted. */
  reloadDeleted = settled(200, () => this.filter === "deleted" && this.reload());

  #reloadSoon = settled(40, (isOther) => this.reload(isOther || this.filter !== "deleted"));

  /** `hasRows`: false if only the count beside Changed may differ. */
  async reload(hasRows = true) {
    const { api, position } = this.#page;
    this.#request?.abort();
    if (!position.b) {
      byId("changed-count").textContent = "";
      return this.#clear();
    }
    const { signal } = (this.#request = new AbortController());
    const b = position.b.id;
    const { older, newer } = position.sides;
    // Changes since B are no facts about the files at B.
    const against = position.isAheadOfB ? "none" : older;
    try {
      this.#count(newer, older, signal);
      if (!hasRows) return;
      this.#box.setAttribute("aria-busy", "true");
      if (this.filter === "all") this.#show(await this.#folders.all(b, against, signal));
      if (this.filter === "changed") {
        const { rows, isTruncated } = await this.#folders.changed(newer, older, signal);
        this.#show(isTruncated ? [...rows, { level: 1, note: "There are more changes than shown." }] : rows);
      }
      if (this.filter === "deleted") {
        this.#show(await this.#folders.deleted(position.root, signal));
      }
      this.#moments = `${b} ${position.aID}`;
      this.#follow();
    } catch (error) {
      if (!isAborted(error)) this.#show([{ level: 1, note: error.message }]);
    } finally {
      if (!signal.aborted) this.#box.setAttribute("aria-busy", "false");
    }
  }

  async #count(newer, older, signal) {
    const { counts } = await this.#folders.changed(newer, older, signal).catch(() => ({ counts: null }));
    if (signal.aborted) return;
    byId("changed-count").textContent = counts ? String(counts.added + counts.modified + counts.removed) : "";
  }

  /** Shows the rows of a complete answer: if there are none, the text says so. */
  #show(rows) {
    this.#fill(rows, rows.length ? "" : emptyTexts[this.filter]);
  }

  /** Shows nothing, as nothing is known yet. */
  #clear() {
    this.#fill([], "");
  }

  #fill(rows, text) {
    this.#rows = rows;
    this.#list.update(rows.length, this.#indexOfItem());
    byId("tree-empty").textContent = text;
    byId("tree-empty").hidden = !text;
    this.#box.hidden = !rows.length;
  }

  #indexOfItem() {
    const { item } = this.#page.position;
    return item ? this.#rows.findIndex((row) => row.item && samePlace(row.item, item)) : -1;
  }

  // The selected path keeps its row when the moment changes; the item takes over the row's facts (removed, another
  // size).
  async #follow() {
    const { item } = this.#page.position;
    if (item && this.filter === "all" && this.#indexOfItem() < 0) {
      const before = this.#folders.open.size;
      this.#folders.openTo(item.path);
      if (this.#folders.open.size !== before) return this.reload();
    }
    const index = this.#indexOfItem();
    this.#list.update(this.#rows.length, index);
    this.#list.reveal(index);
    // Until the rows of another moment are loaded, the old ones say nothing about the item.
    const isCurrent = this.#moments === `${this.#page.position.b?.id} ${this.#page.position.aID}`;
    if (index >= 0 && this.filter !== "deleted" && isCurrent) {
      const found = this.#rows[index].item;
      if (found.change !== item.change || found.content !== item.content) this.#page.position.go({ item: found });
    }
  }

  #activate(index, event) {
    const row = this.#rows[index];
    if (!row) return;
    if (row.more) {
      row.more();
      return this.reload();
    }
    if (!row.item) return;
    if (event?.target.closest(".check")) return this.#choose(row);
    if (event && row.item.kind === "directory" && !row.isFlat) {
      this.#folders.toggle(row.item);
      this.reload();
      // With one pane, its changes would hide what was opened.
      if (isNarrow.matches) return;
    }
    this.#page.select(row.item, row.lastIn);
  }

  #key(event, index) {
    const row = this.#rows[index];
    if (event.key === " " && row?.item) this.#choose(row);
    else if (event.key === "Enter" && row?.item?.kind === "directory" && !row.isFlat) {
      this.#folders.toggle(row.item);
      this.reload();
    } else if (event.key === "Enter" && row) this.#activate(index, null);
    else return false;
    return true;
  }

  #choose({ item, lastIn }) {
    if (this.#page.api.isReadOnly) return;
    const key = item.pathBytes ?? item.path;
    // A deleted entry is restored from the last snapshot that has it.
    if (!this.chosen.delete(key)) this.chosen.set(key, { ...item, lastIn: lastIn?.id, lastTime: lastIn?.time });
    this.#list.update(this.#rows.length);
    this.dispatchEvent(new Event("choose"));
  }

  // Returns the id of the snapshot that holds an entry of the tree.
  #holder(item) {
    const { sides: { older, newer }, b } = this.#page.position;
    return item.change === "removed" ? older : item.change === "added" && newer !== "disk" ? newer : b?.id;
  }

  #render(index) {
    const { item, level, isOpen, isFlat, words: text, note, lastIn, deletedIn } = this.#rows[index];
    const row = element("div", { role: "treeitem", class: "row", "aria-level": level, "aria-selected": "false" });
    row.style.setProperty("--level", String(level - 1));
    if (!item) {
      row.classList.add("more");
      row.append(text ?? note);
      return row;
    }
    const isFolder = item.kind === "directory";
    row.setAttribute("aria-selected", String(index === this.#list?.active));
    if (isFolder && !isFlat) row.setAttribute("aria-expanded", String(isOpen));
    if (item.change && !lastIn) row.classList.add(item.change);
    const folder = isFlat ? folderOf(item.path) : "";
    const isChosen = this.chosen.has(item.pathBytes ?? item.path);
    const canChoose = !this.#page.api.isReadOnly;
    if (canChoose) row.setAttribute("aria-checked", String(isChosen));
    row.setAttribute("aria-label", [
      escaped(nameOf(item.path)), folder && "in " + escaped(folder), isFolder ? "directory" : "",
      lastIn ? "deleted " + brief(deletedIn.time) : changeWords[item.change] ?? "",
      item.contained ? `with ${counted(item.contained, "entry", "entries")}` : "",
    ].filter(Boolean).join(", "));
    row.append(
      canChoose ? element("span", { class: "check" + (isChosen ? " on" : ""), title: "Choose for a restore (Space)" }) : "",
      element("span", { class: "twist" + (isFolder && !isFlat ? (isOpen ? " open" : " closed") : "") }),
      this.#page.smallPictures.of(lastIn?.id ?? this.#holder(item), item),
      nameElement(nameOf(item.path) + (isFolder ? "/" : "")),
      folder ? nameElement(folder, "folder") : element("span", { class: "fill" }),
      element("span", { class: "size", text: lastIn ? brief(deletedIn.time) : isFolder ? "" : bytes(item.size) }),
      element("span", { class: "mark", text: lastIn ? "" : marks[item.change] ?? "", title: changeWords[item.change] ?? "" }));
    return row;
  }
}
