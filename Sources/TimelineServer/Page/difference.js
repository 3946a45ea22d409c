// The differences of one file between A and B: lines (unified or side by side), two images, or only sizes.

import { button, element, notice } from "./elements.js";
import { bytes, counted, signedBytes } from "./amounts.js";
import { typeOf } from "./contents.js";
import { diffRows, sideRows, unifiedLine } from "./difference-lines.js";
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
    const { item, b, aID } = position;
    if (!item || item.kind === "directory") return this.#changes.load(signal);
    const answer = await api.get("diff", { a: aID, b: b.id, ...pathQuery(item) }, { isFixed: true, signal });
    const nodes = await this.#nodes(answer, item, signal);
    if (signal.aborted) return;
    this.box.replaceChildren(...nodes);
    this.box.scrollTop = 0;
  }

  async #nodes(answer, item, signal) {
    const { left, right } = answer;
    this.#lines?.disconnect();
    this.#lines = null;
    if (!left && !right) return [notice("It is neither at A nor at B.", lastChangeButton(this.#page))];
    if (answer.kind === "same") {
      return [notice("It is the same at A and B.", element("p", { class: "actions" }, lastChangeButton(this.#page)))];
    }
    const isImage = typeOf(item.path) === "image" && !(answer.kind === "text" && !item.path.toLowerCase().endsWith(".svg"));
    if (isImage) return this.#images(item, signal);
    if (answer.kind === "binary") return [notice("Not text.", element("p", { text: sizes(left, right) }))];
    return this.#text(answer);
  }

  async #images(item, signal) {
    const { contents, position } = this.#page;
    const at = (id) => (id === "none" ? null : contents.image(id, item, signal));
    return imagePair(await at(position.aID), await at(position.b.id));
  }

  #text(answer) {
    const rows = diffRows(answer.hunks);
    const isSplit = this.#layout === "split" && this.box.clientWidth > 640;
    const count = (sign) => rows.filter((row) => row.sign === sign).length;
    const head = element("div", { class: "diff-head" },
      element("span", { class: "summary" },
        element("span", { class: "removed", text: `− ${counted(count("-"), "line")}` }), " ",
        element("span", { class: "added", text: `+ ${counted(count("+"), "line")}` }), " ",
        element("span", { class: "muted", text: sizes(answer.left, answer.right) })),
      element("span", { class: "segments", role: "group", "aria-label": "Layout", id: "diff-layout" },
        ...["unified", "split"].map((layout) => button(layout === "unified" ? "Unified" : "Side by side",
          () => {
            this.#layout = layout;
            this.box.replaceChildren(...this.#text(answer));
          }, { "aria-pressed": String(layout === this.#layout) }))));
    const shown = isSplit ? sideRows(rows) : rows;
    this.#lines = new Lines(shown.length, isSplit ? (index) => shown[index] : (index) => unifiedLine(shown[index]),
      this.box, isSplit ? "lines diff split" : "lines diff");
    return [
      head, this.#lines.element,
      answer.isTruncated ? element("p", { class: "facts", text: "Only the beginning of a long diff. The command below prints all of it." }) : "",
    ];
  }
}

function sizes(left, right) {
  if (!left) return `not there at A, ${bytes(right.size)} at B`;
  if (!right) return `${bytes(left.size)} at A, not there at B`;
  return `${bytes(left.size)} → ${bytes(right.size)} (${signedBytes(right.size - left.size)})`;
}

/** A button to a moment that changed the file. */
const lastChangeButton = (page) =>
  button("Go to its last change", () => page.step("last-change", 0), { class: "primary", id: "last-change" });
