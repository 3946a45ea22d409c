// The list of restores, and undo and redo.

import { byId, element, notice } from "./elements.js";
import { moment } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { complain, say } from "./messages.js";
import { escaped } from "./names.js";
import { showProblems, work } from "./restore.js";

export class Operations {
  #page;
  #list = { operations: [], canUndo: false, canRedo: false };
  /** The last action of this page, its number of operations, and the name of its reversal. */
  #last = { back: null, operation: null, count: 1 };

  constructor(page) {
    this.#page = page;
    byId("undo").addEventListener("click", () => this.undo());
    byId("redo").addEventListener("click", () => this.redo());
    byId("restores").addEventListener("click", () => this.open());
    page.position.addEventListener("change", ({ detail }) => detail.has("root") && this.load());
  }

  async load() {
    const { api, position } = this.#page;
    for (const name of ["undo", "redo"]) byId(name).hidden = api.isReadOnly;
    byId("read-only").hidden = !api.isReadOnly;
    byId("read-only").textContent = api.isReadOnly ? api.readOnlyText : "";
    if (!position.root) return;
    this.#list = await api.get("operations", { root: position.root }).catch(() => this.#list);
    byId("undo").disabled = !this.#list.canUndo;
    byId("redo").disabled = !this.#list.canRedo;
    const last = this.#list.operations.find((operation) => !operation.undone && operation.kind !== "undo");
    byId("undo").title = last ? `Undo: ${escaped(last.message)} (u)` : "Nothing to undo.";
  }

  undo() {
    return this.#reverse("undo", ["Redo", () => this.redo(), { id: "message-redo" }]);
  }

  redo() {
    return this.#reverse("redo", ["Undo", () => this.undo(), { id: "message-undo" }]);
  }

  /** `back`: undo or redo. A restore of several paths is several operations, which are undone together. */
  remember(back, { operation, count }) {
    this.#last = { back, operation, count };
  }

  // If something else was done since, for example on a command line, undo one step only.
  async #countBack(name) {
    await this.load();
    const { back, operation, count } = this.#last;
    return back === name && operation === this.#list.operations[0]?.id ? count : 1;
  }

  async #reverse(name, back) {
    const { api, position } = this.#page;
    if (api.isReadOnly) return say(api.readOnlyText);
    if (!position.root) return;
    try {
      const done = await api.post(name, { root: position.root, count: await this.#countBack(name) });
      this.remember(name === "undo" ? "redo" : "undo", done);
      say(`${escaped(done.message)}: ${work(done)}.`, back);
      if (done.problemPaths.length) showProblems(done.problemPaths);
      this.#page.changed();
    } catch (error) {
      if (error.status === 409) say(error.message);
      else complain(error);
    }
  }

  open() {
    const rows = this.#list.operations.map((operation) => element("li", { class: operation.undone ? "undone" : "" },
      element("span", { class: "time", text: moment(operation.time) }), element("code", { text: operation.short }),
      element("span", { class: "wrap" }, element("bdi", { text: escaped(operation.message) }), operation.undone ? " (undone)" : "")));
    openDialog("operations", "Restores of this directory", rows.length
      ? [element("ul", { class: "operations" }, ...rows)]
      : [notice("Nothing was restored here yet.", element("p", { class: "muted", text: "Choose a moment and a file, then Restore…" }))]);
  }
}
