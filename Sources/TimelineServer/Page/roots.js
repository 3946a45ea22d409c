// The root chooser at the top: every directory that has snapshots in the archive.

import { byId, element } from "./elements.js";
import { number } from "./amounts.js";
import { shortened } from "./names.js";

export class Roots {
  list = [];
  /** The state of the archive before the list was read. */
  change = null;
  #page;
  #select = byId("root");

  constructor(page) {
    this.#page = page;
    this.#select.addEventListener("change", () => page.openRoot(this.#select.value));
  }

  async load() {
    const answer = await this.#page.api.get("roots");
    this.list = answer.roots;
    this.change = answer.change;
    this.#select.replaceChildren(...this.list.map((root) => {
      const host = root.here ? "" : ` on ${root.host}`;
      return element("option", { value: root.id, text: `${shortened(root.path, 48)}${host} (${number(root.snapshots)})` });
    }));
    if (!this.list.length) this.#select.replaceChildren(element("option", { value: "", text: "No directory yet" }));
    this.#select.disabled = this.list.length < 2;
    return answer.initial ?? this.list[0]?.id ?? null;
  }

  /** Whether the directory of a root can be on this machine. */
  isHere(id) {
    return this.list.find((root) => root.id === id)?.here ?? false;
  }

  /** The path of a root, for display. */
  path(id) {
    return this.list.find((root) => root.id === id)?.path ?? "";
  }

  show(id) {
    this.#select.value = id ?? "";
    const root = this.list.find((root) => root.id === id);
    this.#select.title = root ? shortened(root.path, 300) : "";
    document.title = root ? `${shortened(root.path, 60)}: archiver` : "archiver";
  }
}
