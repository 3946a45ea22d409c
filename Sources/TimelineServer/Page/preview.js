// A file as it was: text, image, sound, film, or bytes. For a directory or the whole root: its changes.

import { button, element, notice } from "./elements.js";
import { bytes, churn, counted, marks } from "./amounts.js";
import { brief, moment } from "./dates.js";
import { textOf, typeOf } from "./contents.js";
import { escapedLine, isBelow, nameElement, nameOf, folderOf } from "./names.js";
import { hexLine } from "./hex.js";
import { Lines } from "./lines.js";

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
    if (shown.found >= 0) this.#lines.reveal(shown.found);
  }

  #gone(item) {
    if (item?.change !== "removed") return [];
    return [element("p", { class: "strip removed" }, "Removed at B. Shown as it was at A.")];
  }

  async #file(signal) {
    const { contents, position } = this.#page;
    const { item } = position;
    if (item.kind === "symlink") return { nodes: [notice("A symbolic link to:", nameElement(item.target ?? "?", "target"))] };
    if (item.kind === "other") return { nodes: [notice("Not a regular file: a device, a socket or a pipe.")] };
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
    const text = textOf(file.bytes, file.isWhole);
    return text === null ? this.#hex(file, item) : this.#text(text, file, item);
  }

  #image(image, item) {
    const picture = element("img", { alt: "Preview of " + nameOf(item.path) });
    const size = element("span");
    picture.addEventListener("load", () => (size.textContent = `${picture.naturalWidth} × ${picture.naturalHeight}, `));
    picture.addEventListener("error", () => (size.textContent = "This browser cannot show the image. "));
    picture.src = image.url;
    return { nodes: [element("div", { class: "media" }, picture), this.#facts(image.size, item, size)] };
  }

  #text(text, file, item) {
    const rows = text.split("\n");
    if (rows.at(-1) === "") rows.pop();
    const { find } = this.#page.position;
    const found = find ? rows.findIndex((row) => row.includes(find)) : -1;
    const lines = new Lines(rows.length, (index) =>
      element("div", { class: index === found ? "line found" : "line", "data-n": index + 1, text: escapedLine(rows[index]) || "\u200b" }),
    this.box, "lines text");
    const note = file.isWhole ? "" : `The first ${bytes(file.bytes.length)} of `;
    return { lines, found, nodes: [lines.element, this.#facts(file.size, item, note, counted(rows.length, "line") + ", ")] };
  }

  #hex(file, item) {
    const lines = new Lines(Math.ceil(file.bytes.length / 16), (index) =>
      element("div", { class: "line", text: hexLine(file.bytes, index * 16) }), this.box, "lines hex");
    const note = file.isWhole ? "" : `The first ${bytes(file.bytes.length)} of `;
    return { lines, nodes: [lines.element, this.#facts(file.size, item, note)] };
  }

  #facts(size, item, ...before) {
    const link = element("a", { href: this.#page.contents.downloadURL(this.#page.position.holder, item), download: nameOf(item.path) }, "Download");
    const mode = [bytes(size), item.mode, item.modified ? "modified " + moment(item.modified) : ""].filter(Boolean).join(", ");
    return element("p", { class: "facts" }, ...before, mode, " ", link);
  }

  async #absent() {
    const { position, walk } = this.#page;
    const { list } = await walk.versions(position.item).catch(() => ({ list: [] }));
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
    const { item, b, aID } = position;
    const answer = await api.get("changes", { a: aID, b: b.id, limit: 5000 }, { isFixed: true, signal });
    const changes = answer.changes.filter((change) => !item || isBelow(change.path, item.path));
    const shown = changes.slice(0, 60);
    const summary = item ? counted(changes.length, "change") + " below this directory" : churn(answer.counts);
    const heading = element("p", { class: "summary" }, aID === "none" ? "The first snapshot: " : "From A to B: ", summary);
    const rows = shown.map((change) => element("li", {}, button("", () => this.#page.open(change), { class: `change ${change.change}` })));
    rows.forEach((row, index) => row.firstChild.append(...changeParts(shown[index])));
    const rest = changes.length - shown.length;
    return {
      nodes: [
        heading,
        rows.length ? element("ul", { class: "changes" }, ...rows) : notice(
          "Nothing differs here between A and B.", element("p", { class: "muted" }, "Choose a file on the left, or another moment above.")),
        rest > 0 ? element("p", { class: "facts", text: `${counted(rest, "more change")}: see Changed in the list on the left.` }) : "",
      ],
    };
  }
}

function changeParts(change) {
  const sizes = change.sizeBefore != null && change.sizeAfter != null
    ? `${bytes(change.sizeBefore)} → ${bytes(change.sizeAfter)}` : bytes(change.sizeAfter ?? change.sizeBefore);
  return [
    element("span", { class: "mark", text: marks[change.change], "aria-hidden": "true" }),
    nameElement(nameOf(change.path)), nameElement(folderOf(change.path), "folder"),
    element("span", { class: "word", text: change.change }),
    element("span", { class: "size", text: change.kind === "file" ? sizes : change.kind }),
  ];
}
