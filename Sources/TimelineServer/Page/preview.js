// A file as it was: text, image, sound, film, or bytes. For a directory or the whole root: its changes.

import { button, element, notice } from "./elements.js";
import { bytes as sizeOf, changeWords, churn, counted, marks } from "./amounts.js";
import { brief, moment } from "./dates.js";
import { isAborted } from "./api.js";
import { typeOf } from "./contents.js";
import { escapedLine, nameElement, nameOf, folderOf, pathQuery } from "./names.js";
import { hexLine } from "./hex.js";
import { Lines } from "./lines.js";
import { TextReader } from "./text.js";

const longLine = 1000;

export class Preview {
  #page;
  #lines = null;

  constructor(page, box) {
    this.#page = page;
    this.box = box;
  }

  async load(signal) {
    const { item, b } = this.#page.position;
    const shown = !item || item.kind === "directory" ? await this.#changes(signal) : await this.#file(signal);
    if (signal.aborted) return;
    this.#lines?.disconnect();
    this.#lines = shown.lines ?? null;
    const isSame = this.box.dataset.path === (item?.path ?? "");
    const top = this.box.scrollTop;
    this.box.dataset.path = item?.path ?? "";
    this.box.replaceChildren(...this.#gone(item, b), ...shown.nodes);
    // Keep the scroll position, so that versions of one file can be compared by eye.
    this.box.scrollTop = isSame ? top : 0;
    shown.reveal?.();
  }

  #gone(item) {
    if (item?.change !== "removed") return [];
    return [element("p", { class: "strip removed" }, "Removed. Shown as it was before.")];
  }

  async #file(signal) {
    const { contents, position } = this.#page;
    const { item } = position;
    if (item.kind === "symlink") return { nodes: [notice("A symbolic link to:", nameElement(item.target ?? "?", "target"))] };
    if (!["file", "directory"].includes(item.kind)) return { nodes: [notice("Not a regular file: a device, a socket or a pipe.")] };
    const holder = position.holder;
    const type = typeOf(item.path);
    if (type === "image") {
      const image = await contents.image(holder, item, signal);
      return image ? this.#image(image, item) : this.#absent();
    }
    if (type === "audio" || type === "video") {
      const player = element(type, { controls: true, preload: "metadata", "aria-label": nameOf(item.path) });
      player.src = contents.mediaURL(holder, item);
      return { nodes: [element("div", { class: "media" }, player), this.#facts(item.size, item)] };
    }
    const file = await contents.beginning(holder, item, signal);
    if (!file) return this.#absent();
    if (!file.size) return { nodes: [notice("An empty file.")] };
    const reader = TextReader.open(file.bytes, file.isWhole);
    return reader ? this.#text(reader, file, item, signal) : this.#hex(file, item);
  }

  #image(image, item) {
    const picture = element("img", { alt: "Preview of " + nameOf(item.path) });
    const size = element("span");
    picture.addEventListener("load", () => (size.textContent = `${picture.naturalWidth} × ${picture.naturalHeight}, `));
    picture.addEventListener("error", () => (size.textContent = "This browser cannot show the image. "));
    picture.src = image.url;
    return { nodes: [element("div", { class: "media" }, picture), this.#facts(image.size, item, size)] };
  }

  /** Shows a text to its end: a large one grows by a piece whenever its end comes into view. */
  #text(reader, file, item, signal) {
    const { contents, position } = this.#page;
    const { find, holder } = position;
    const box = element("div", { class: "pieces" });
    const facts = element("p", { class: "facts" });
    const pieces = { all: [], disconnect: () => pieces.all.forEach((each) => each.disconnect()) };
    let found = null;
    let read = 0;
    const add = (bytes) => {
      read += bytes.length;
      const rows = reader.rows(bytes, read >= file.size);
      const wanted = find && !found ? rowOf(find, rows) : -1;
      const lines = new Lines(rows.length, (index) => element("div", {
        class: index === wanted ? "line found" : "line", "data-n": rows[index].n ?? "", text: escapedLine(rows[index].text) || "\u200b",
      }), this.box, "lines text");
      lines.element.style.setProperty("--digits", String(Math.max(3, String(reader.count).length)));
      // The browser lays out long lines only when they come into view.
      if (rows.some(({ text }) => text.length > longLine)) lines.element.classList.add("long");
      pieces.all.push(lines);
      box.append(lines.element);
      if (wanted >= 0) found = () => lines.reveal(wanted);
      const isWhole = read >= file.size;
      facts.replaceChildren(...this.#factsOf(file.size, item, isWhole ? "" : `The first ${sizeOf(read)} of `,
        [counted(reader.count, "line"), reader.words].filter(Boolean).join(", ") + ", "));
      if (isWhole) more.remove();
    };
    let loading = null;
    // Returns whether there is another piece now.
    const load = () => (loading ??= loadPiece().finally(() => (loading = null)));
    const loadPiece = async () => {
      try {
        add((await contents.piece(holder, item, read, signal)).bytes);
        // The end may still be in view: only a new observation says so.
        seen.unobserve(more);
        if (read < file.size) seen.observe(more);
        return true;
      } catch (error) {
        if (!isAborted(error)) more.textContent = error.message;
        return false;
      }
    };
    const reveal = async () => {
      while (find && !found && read < file.size && await load());
      found?.();
    };
    const more = button("Show more", load, { class: "plain", id: "more-text" });
    // On a busy machine several changes come at once; the last one says how it is now.
    const seen = new IntersectionObserver(
      (changes) => changes.at(-1).isIntersecting && load(), { root: this.box, rootMargin: "600px 0px" });
    pieces.all.push(seen);
    add(file.bytes);
    if (read < file.size) seen.observe(more);
    return { lines: pieces, reveal, nodes: [box, read < file.size ? more : "", facts] };
  }

  #hex(file, item) {
    const lines = new Lines(Math.ceil(file.bytes.length / 16), (index) =>
      element("div", { class: "line", text: hexLine(file.bytes, index * 16) }), this.box, "lines hex");
    const note = file.isWhole ? "" : `The first ${sizeOf(file.bytes.length)} of `;
    return { lines, nodes: [lines.element, this.#facts(file.size, item, note)] };
  }

  #facts(size, item, ...before) {
    return element("p", { class: "facts" }, ...this.#factsOf(size, item, ...before));
  }

  #factsOf(size, item, ...before) {
    const link = element("a", { href: this.#page.contents.downloadURL(this.#page.position.holder, item), download: nameOf(item.path) }, "Download");
    const mode = [sizeOf(size), item.permissions, item.modified ? "modified " + moment(item.modified) : ""].filter(Boolean).join(", ");
    return [...before, mode, " ", link];
  }

  async #absent() {
    const { position, walk } = this.#page;
    const { list } = await walk.versionsBackTo(position.item, position.b).catch(() => ({ list: [] }));
    const before = list.find((version) => version.isPresent && version.snapshot.time < position.b.time);
    const after = list.findLast((version) => version.isPresent && version.snapshot.time > position.b.time);
    const link = (version, text) => version && button(
      `${text} (${brief(version.snapshot.time)})`, () => this.#page.goTo(version.snapshot), { class: "primary" });
    return {
      nodes: [notice("Not there at this moment.", element("p", { class: "actions" },
        link(before, "Go to the last version before"), link(after, "Go to the next version")))],
    };
  }

  async #changes(signal) {
    const { api, position } = this.#page;
    const { item, sides: { older, newer } } = position;
    const { changes: shown, counts } = await api.get(
      "changes", { a: older, b: newer, limit: 60, ...(item ? pathQuery(item) : {}) }, { isFixed: newer !== "disk", signal });
    const count = counts.added + counts.modified + counts.removed;
    const summary = item ? counted(count, "change") + " below this directory" : churn(counts);
    const heading = element("p", { class: "summary" }, older === "none" ? "The first snapshot: " : newer === "disk" ? "Since then: " : "Between the two moments: ", summary);
    const rows = shown.map((change) => element("li", {}, button("", () => this.#page.open(change), { class: `change ${change.change}` })));
    rows.forEach((row, index) => row.firstChild.append(...changeParts(shown[index])));
    const rest = count - shown.length;
    return {
      nodes: [
        heading,
        rows.length ? element("ul", { class: "changes" }, ...rows) : notice(
          newer === "disk" ? "Nothing here has changed since." : "Nothing differs here between the two moments.", element("p", { class: "muted" }, "Choose a file on the left, or another moment above.")),
        rest > 0 ? element("p", { class: "facts", text: `${counted(rest, "more change")}: see Changed in the list on the left.` }) : "",
      ],
    };
  }
}

/** Returns the index of a found line, {line, words}; of the rows of a long line, the one that has the words. */
function rowOf({ line, words }, rows) {
  const first = rows.findIndex(({ n }) => n === line);
  if (first < 0) return -1;
  const next = rows.findIndex(({ n }, index) => index > first && n !== null);
  const own = rows.slice(first, next < 0 ? rows.length : next);
  return first + Math.max(0, own.findIndex(({ text }) => text.toLowerCase().includes(words.toLowerCase())));
}

function changeParts(change) {
  const { left, right } = change;
  const sizes = left && right ? `${sizeOf(left.size)} → ${sizeOf(right.size)}` : sizeOf((right ?? left).size);
  return [
    element("span", { class: "mark", text: marks[change.change], "aria-hidden": "true" }),
    nameElement(nameOf(change.path)), nameElement(folderOf(change.path), "folder"),
    element("span", { class: "word", text: changeWords[change.change] }),
    element("span", { class: "size", text: change.kind === "file" ? sizes : change.kind }),
  ];
}
