// Restoring: shows the plan first, then applies it, then offers undo. Nothing is written before Apply.

import { button, byId, element } from "./elements.js";
import { bytes, counted, marks, number } from "./amounts.js";
import { ApiError } from "./api.js";
import { moment } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { complain, say } from "./messages.js";
import { nameElement, nameOf, pathQuery, shortened } from "./names.js";

const words = { create: "create", overwrite: "overwrite", remove: "remove", metadata: "permissions and times" };

export class Restore {
  #page;
  #dialog = null;

  constructor(page) {
    this.#page = page;
    byId("restore").addEventListener("click", () => this.plan());
    page.tree.addEventListener("choose", () => this.show());
    page.position.addEventListener("change", () => this.show());
  }

  /** The entries to restore: the chosen ones, else the selected one, else everything. */
  get items() {
    const { tree, position } = this.#page;
    if (tree.chosen.size) return [...tree.chosen.values()];
    return [position.item ?? { path: "", kind: "directory" }];
  }

  // Entries that B no longer has are restored from A.
  get #holder() {
    const { position } = this.#page;
    const { size } = this.#page.tree.chosen;
    if (!size) return position.holder;
    const isGone = this.items.every((item) => item.change === "removed") && position.aID !== "none";
    return isGone ? position.aID : position.b.id;
  }

  get name() {
    const items = this.items;
    if (items.length > 1) return counted(items.length, "entry", "entries");
    return items[0].path === "" ? "everything" : shortened(nameOf(items[0].path), 24);
  }

  show() {
    const { position, api, tree } = this.#page;
    const isPossible = position.b !== null && !api.isReadOnly;
    byId("restore").hidden = api.isReadOnly;
    byId("restore").disabled = !isPossible;
    byId("restore").textContent = `Restore ${this.name}…`;
    // Restoring everything is rarely intended, so the button is not highlighted then.
    byId("restore").classList.toggle("primary", tree.chosen.size > 0 || position.item !== null);
    byId("clear-chosen").hidden = tree.chosen.size === 0;
    const archive = byId("archive");
    const items = this.items;
    archive.hidden = !position.b || items.length > 1;
    if (!archive.hidden) {
      archive.href = api.url(`archive/${this.#holder}`, pathQuery(items[0]), true);
      archive.title = `${this.name} of this moment as a tar file`;
    }
  }

  async plan() {
    if (this.#page.api.isReadOnly) return say("This page is read-only: started with --read-only.");
    if (!this.#page.position.b || this.#dialog?.open) return;
    const items = this.items;
    const hasBytes = items.some((item) => item.pathBytes);
    // If one path needs its bytes, send the bytes of all.
    const paths = hasBytes
      ? { pathBytes: items.map((item) => item.pathBytes ?? base64url(item.path)) } : { paths: items.map((item) => item.path) };
    try {
      const plan = await this.#page.api.post("restore/plan", { snapshot: this.#holder, ...paths });
      this.#show(plan, this.#titleOf());
    } catch (error) {
      complain(error);
    }
  }

  #titleOf() {
    const { position } = this.#page;
    const time = this.#holder === position.b.id ? position.b.time : this.#page.aSnapshot?.time ?? position.b.time;
    return `Restore ${this.name} as of ${moment(time)}`;
  }

  #show(plan, title, warning = null) {
    this.#dialog?.close();
    const { written, removed, bytes: size } = plan.counts;
    const content = [
      warning ? element("p", { class: "strip changed", role: "alert", text: warning }) : "",
      element("p", { class: "summary", id: "plan-summary", text: plan.nothingToDo
        ? "Nothing to do: the directory is already like this."
        : `${number(written)} written, ${number(removed)} removed, ${bytes(size)}. Nothing is changed before Apply. The present state is captured first, so that Undo can restore it.` }),
      plan.excluded ? element("p", { class: "facts", text: `${counted(plan.excluded, "path")} excluded from snapshots, left alone.` }) : "",
      ...plan.remarks.map((remark) => element("p", { class: "facts", text: remark })),
      plan.actions.length ? element("ul", { class: "plan-list", tabindex: "0", "aria-label": "Plan" }, ...plan.actions.map(action)) : "",
      plan.isTruncated ? element("p", { class: "facts", text: `The first ${plan.actions.length} are shown.` }) : "",
      element("p", {}, element("span", { class: "muted", text: "The same on a command line: " }), element("code", { class: "wrap", text: plan.command })),
    ];
    const cancel = button(plan.nothingToDo ? "Close" : "Cancel", () => this.#dialog.close(), { id: "cancel" });
    const apply = plan.nothingToDo ? null
      : button("Apply", () => this.#apply(plan, title), { id: "apply", class: removed ? "primary danger" : "primary" });
    this.#dialog = openDialog("plan", title, content, [cancel, ...(apply ? [apply] : [])]);
    (apply ?? cancel).focus();
  }

  async #apply(plan, title) {
    const apply = byId("apply");
    apply.disabled = true;
    apply.textContent = "Restoring…";
    try {
      const done = await this.#page.api.post("restore/apply", { plan: plan.plan });
      this.#dialog.close();
      this.#page.tree.clearChosen();
      this.#page.operations.remember("undo", done);
      this.#page.changed();
      const text = `${title.replace(/^Restore/, "Restored")}: ${number(done.written)} written, ${number(done.removed)} removed${done.excluded ? `, ${number(done.excluded)} excluded left alone` : ""}.`;
      say(text, ...(done.operation ? [["Undo", () => this.#page.operations.undo(), { id: "message-undo" }]] : []));
      if (done.problems.length) showProblems(done.problems);
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && error.body.plan) {
        return this.#show(error.body.plan, title, "The directory has changed since this plan was made. Nothing was written. This is the new plan.");
      }
      this.#dialog.close();
      complain(error);
    }
  }
}

const action = ({ kind, path, bytes: size }) => element("li", { class: kind },
  element("span", { class: "mark", text: marks[kind], "aria-hidden": "true" }),
  nameElement(path, "path"), element("span", { class: "word", text: words[kind] }),
  element("span", { class: "size", text: kind === "create" || kind === "overwrite" ? bytes(size) : "" }));

export function showProblems(problems) {
  openDialog("problems", "Some entries could not be restored", [
    element("ul", { class: "plan-list", tabindex: "0", "aria-label": "Problems" }, ...problems.map((problem) =>
      element("li", { class: "problem" }, nameElement(problem.path, "path"), element("span", { text: problem.message })))),
  ]);
}

const base64url = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
