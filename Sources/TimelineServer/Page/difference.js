// The differences of one file between two moments, the older one first: lines (unified or side by side), two images, or
// only sizes. The newer moment may be the file on disk now.

import { button, element, notice } from "./elements.js";
import { bytes, counted, signedBytes } from "./amounts.js";
import { typeOf } from "./contents.js";
import { moment } from "./dates.js";
import { diffRows, hasOnlyReturns, sideRows, unifiedLine } from "./difference-lines.js";
import { imagePair } from "./image-pair.js";
import { pathQuery } from "./names.js";
import { Lines } from "./lines.js";
import { Preview } from "./preview.js";

export class Difference {
  #page;
  #layout = "unified";
  #lines = null;
  #changes;

  constructor(page, box) {
    this.#page = page;
    this.box = box;
    this.#changes = new Preview(page, box);
  }

  async load(signal) {
    const { api, position } = this.#page;
    const { item, root, sides: { older, newer } } = position;
    if (!item || item.kind === "directory") return this.#changes.load(signal);
    const isFixed = newer !== "disk";
    const answer = await api.get("diff", { root: isFixed ? null : root, a: older, b: newer, ...pathQuery(item) }, { isFixed, signal });
    await this.#page.aLoaded;
    const nodes = await this.#nodes(answer, item, { older, newer }, signal);
    if (signal.aborted) return;
    this.box.replaceChildren(...nodes);
    this.box.scrollTop = 0;
  }

  /** The times of the older and the newer moment. */
  get #times() {
    const { position: { sides }, sideTimes, sideSnapshot } = this.#page;
    const full = sideSnapshot(sides.older);
    return { before: sideTimes.older ?? "", after: sides.newer === "disk" ? "now, on disk" : sideTimes.newer ?? "", full: full ? moment(full.time) : "" };
  }

  async #nodes(answer, item, sides, signal) {
    const { left, right } = answer;
    this.#lines?.disconnect();
    this.#lines = null;
    if (!left && !right) return [notice("It is there at neither moment.", lastChangeButton(this.#page))];
    if (answer.kind === "same") {
      return [notice(left.size > 1 << 20 ? `It is equal at both moments: ${bytes(left.size)}.` : "It is the same at both moments.",
        element("p", { class: "actions" }, lastChangeButton(this.#page)))];
    }
    const isImage = typeOf(item.path) === "image" && !(answer.kind === "text" && !item.path.toLowerCase().endsWith(".svg"));
    if (isImage) return this.#images(answer, item, signal);
    if (answer.kind === "binary") return [notice("Not text, or too large to compare line by line.", element("p", { text: sizes(left, right) }))];
    return this.#text(answer, item, sides);
  }

  async #images({ left, right }, item, signal) {
    const { contents, position: { sides } } = this.#page;
    const at = (id) => (id === "none" || id === "disk" ? null : contents.image(id, item, signal));
    const { before, after } = this.#times;
    const pair = imagePair(await at(sides.older), await at(sides.newer), before, after);
    return sides.newer === "disk" ? [element("p", { class: "summary", text: `The image on disk differs: ${sizes(left, right)}` }), ...pair] : pair;
  }

  #text(answer, item, sides) {
    const rows = diffRows(answer.hunks);
    const isSplit = this.#layout === "split" && this.box.clientWidth > 640;
    const count = (sign) => rows.filter((row) => row.sign === sign).length;
    const { before, after } = this.#times;
    const head = element("div", { class: "diff-head" },
      element("span", { class: "summary" },
        element("span", { class: "sides" }, `${before} → ${after}`), " ",
        element("span", { class: "removed", text: `− ${counted(count("-"), "line")}` }), " ",
        element("span", { class: "added", text: `+ ${counted(count("+"), "line")}` }), " ",
        element("span", { class: "muted", text: [sizes(answer.left, answer.right), answer.encoding,
          hasOnlyReturns(answer.hunks) ? "CRLF line ends" : ""].filter(Boolean).join(", ") })),
      element("span", { class: "segments", role: "group", "aria-label": "Layout", id: "diff-layout" },
        ...["unified", "split"].map((layout) => button(layout === "unified" ? "Unified" : "Side by side",
          () => {
            this.#layout = layout;
            this.box.replaceChildren(...this.#text(answer, item, sides));
          }, { "aria-pressed": String(layout === this.#layout) }))));
    const action = (row) => this.#putBack(row, answer, item, sides);
    const shown = isSplit ? sideRows(rows, action) : rows;
    this.#lines = new Lines(shown.length, isSplit ? (index) => shown[index] : (index) => unifiedLine(shown[index], action),
      this.box, isSplit ? "lines diff split" : "lines diff");
    return [
      head, this.#lines.element,
      answer.isTruncated ? element("p", { class: "facts", text: "Only the beginning of a long diff. The command below prints all of it." }) : "",
    ];
  }

  /**
   * The button at a hunk: its older lines return into the file on disk. The hunk is one between the moments that are
   * shown, `sides`, also if the page has just gone to others.
   */
  #putBack({ hunk, isRemoval }, answer, item, sides) {
    const { api, roots, position, restore } = this.#page;
    if (hunk === undefined || api.isReadOnly || !answer.left || !answer.right || answer.encoding === "UTF-16" || !roots.isHere(position.root)) return "";
    const text = isRemoval ? "Put these lines back…" : "Take these lines out…";
    return button(text, () => restore.lines(item, sides, [hunk], answer.digest ?? null),
      { class: "put-back", title: `Restores the lines of ${this.#times.full} in the file on disk; the rest of it stays as it is` });
  }
}

function sizes(left, right) {
  if (!left) return `not there before, ${bytes(right.size)} after`;
  if (!right) return `${bytes(left.size)} before, not there after`;
  return `${bytes(left.size)} → ${bytes(right.size)} (${signedBytes(right.size - left.size)})`;
}

/** A button to a moment that changed the file. */
const lastChangeButton = (page) =>
  button("Go to its last change", () => page.step("last-change", 0), { class: "primary", id: "last-change" });
