// The rows of the tree as a flat list: the open directories of a snapshot, the changes between two moments, or the
// deleted entries. It does not depend on the page.

import { counted } from "./amounts.js";
import { pathQuery } from "./names.js";

const most = 5000;
const key = (item) => item.pathBytes ?? item.path;

export class Folders {
  #api;
  open = new Set();
  #pages = new Map();
  #deletedPages = 1;
  #moment = "";

  constructor(api) {
    this.#api = api;
  }

  /** Returns all entries at B in open directories: rows of {item, level, isOpen} or {more, words, level}. */
  async all(b, a, signal) {
    this.#pages = this.#moment === b + a ? this.#pages : new Map();
    this.#moment = b + a;
    const rows = [];
    await this.#add({ path: "" }, 1, { b, a, signal }, rows);
    return rows;
  }

  async #add(folder, level, query, rows) {
    const pages = this.#pages.get(key(folder)) ?? 1;
    let cursor = null;
    for (let page = 0; page < pages; page += 1) {
      const answer = await this.#api.get(
        "tree", { snapshot: query.b, ...pathQuery(folder), against: query.a === "none" ? null : query.a, cursor },
        { isFixed: true, signal: query.signal });
      for (const item of answer.entries) {
        const isOpen = item.kind === "directory" && item.change !== "removed" && this.open.has(key(item));
        rows.push({ item, level, isOpen });
        if (isOpen) await this.#add(item, level + 1, query, rows);
      }
      cursor = answer.cursor;
      if (!cursor) return;
    }
    rows.push({ more: () => this.#pages.set(key(folder), pages + 1), words: "Show more…", level });
  }

  toggle(item) {
    if (!this.open.delete(key(item))) this.open.add(key(item));
  }

  openTo(path) {
    for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) this.open.add(path.slice(0, end));
  }

  /** `newer` may be "disk". */
  async changed(newer, older, signal) {
    const answer = await this.#api.get("changes", { a: older, b: newer, limit: most }, { isFixed: newer !== "disk", signal });
    const rows = answer.changes.map((change) => ({
      level: 1,
      isFlat: true,
      item: {
        ...change,
        ...(change.right ?? change.left),
      },
    }));
    return { rows, counts: answer.counts, isTruncated: answer.isTruncated };
  }

  /** Returns the deleted entries, the latest deletion first, each with the last snapshot that has it. */
  async deleted(root, signal) {
    const rows = [];
    let answer = { cursor: null };
    for (let page = 0; page < this.#deletedPages; page += 1) {
      answer = await this.#api.get("deleted", { root, cursor: answer.cursor }, { signal });
      for (const { lastIn, deletedIn, ...item } of answer.deleted) {
        rows.push({ level: 1, isFlat: true, item: { ...item, change: "removed" }, lastIn, deletedIn });
      }
      if (!answer.cursor) break;
    }
    if (answer.cursor) {
      rows.push({ more: () => (this.#deletedPages += 1), words: `${rows.length} of ${answer.count}: show more…`, level: 1 });
    }
    if (answer.damagedCount) {
      rows.push({ level: 1, note: `${counted(answer.damagedCount, "snapshot")} cannot be read: more may have been deleted.` });
    }
    return rows;
  }
}
