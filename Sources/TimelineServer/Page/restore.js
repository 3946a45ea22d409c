// Restoring: shows the plan first, then applies it, then offers undo. Nothing is written before Apply.

import { button, byId, element } from "./elements.js";
import { bytes, counted, marks, number } from "./amounts.js";
import { ApiError } from "./api.js";
import { moment, versionTime } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { diffRows, unifiedLine } from "./difference-lines.js";
import { complain, say } from "./messages.js";
import { escaped, folderOf, nameElement, nameOf, pathQuery, shortened } from "./names.js";

const words = { create: "create", replace: "overwrite", delete: "remove", metadata: "permissions and times" };

export class Restore {
  #page;
  #dialog = null;

  constructor(page) {
    this.#page = page;
    byId("restore").addEventListener("click", () => this.plan("shown"));
    byId("restore-older").addEventListener("click", () => this.plan("older"));
    byId("copy-as").addEventListener("click", () => this.copy());
    page.tree.addEventListener("choose", () => this.show());
    page.position.addEventListener("change", () => this.show());
  }

  /** The entries to restore: the chosen ones, else the selected one, else everything. */
  get items() {
    const { tree, position } = this.#page;
    if (tree.chosen.size) return [...tree.chosen.values()];
    return [position.item ?? { path: "", kind: "directory" }];
  }

  get name() {
    const items = this.items;
    if (items.length > 1) return counted(items.length, "entry", "entries");
    return items[0].path === "" ? "everything" : shortened(nameOf(items[0].path), 24);
  }

  /** Whether two moments are compared: then the older one can be restored as well as the newer one. */
  get #isComparison() {
    const { position, tree } = this.#page;
    const { older } = position.sides;
    if (older === "none") return false;
    const isSeen = position.view === "diff" && position.item !== null && position.item.kind !== "directory";
    return tree.chosen.size ? tree.filter === "changed" || position.view === "diff" : isSeen;
  }

  /** What can be restored: the sides "older" and "newer" of a comparison, else "shown". */
  get #choices() {
    const { sides } = this.#page.position;
    if (!this.#isComparison) return ["shown"];
    const items = this.items;
    const isOnly = (change) => items.every((item) => item.change === change);
    return [isOnly("added") ? null : "older", sides.newer === "disk" || isOnly("removed") ? null : "newer"].filter(Boolean);
  }

  show() {
    const { position, api, tree } = this.#page;
    const isPossible = position.b !== null && !api.isReadOnly;
    const choices = isPossible ? this.#choices : [];
    const older = byId("restore-older");
    const restore = byId("restore");
    older.hidden = !choices.includes("older");
    restore.hidden = api.isReadOnly || (choices.length === 1 && choices[0] === "older");
    restore.disabled = !isPossible || !choices.length;
    const isChosen = tree.chosen.size > 0 || position.item !== null;
    if (choices.includes("older") || choices.includes("newer")) {
      older.textContent = this.#textOf("older");
      restore.textContent = this.#textOf("newer");
    } else restore.textContent = `Restore ${this.name}…`;
    // Restoring everything is rarely intended, so the button is not highlighted then.
    older.classList.toggle("primary", isChosen);
    restore.classList.toggle("primary", isChosen && older.hidden);
    byId("clear-chosen").hidden = tree.chosen.size === 0;
    const items = this.items;
    const isOne = items.length === 1 && position.b !== null;
    byId("copy-as").hidden = api.isReadOnly || !isOne || items[0].path === "";
    const archive = byId("archive");
    archive.hidden = !isOne;
    if (isOne) {
      archive.href = api.url(`archive/${items[0].lastIn ?? position.holder}`, pathQuery(items[0]), true);
      archive.title = `${this.name} of this moment as a tar file`;
    }
  }

  #textOf(side) {
    const when = this.#page.sideTimes[side] ?? (side === "older" ? "before" : "after");
    return this.items.length > 1 ? `Restore ${this.name} as of ${when}…` : `Restore the version of ${when}…`;
  }

  /** Where an entry is looked for: first in the chosen moment, then in the other one. */
  #snapshots(item, side) {
    if (item.lastIn) return [item.lastIn];
    const { position: { b, sides: { older, newer } } } = this.#page;
    const first = side === "shown" ? b.id : side === "older" ? older : newer;
    return [...new Set([first, older, newer])].filter((id) => id !== "none" && id !== "disk");
  }

  /** `side`: "older", "newer" or "shown"; without it, the first that can be restored. */
  async plan(side = this.#choices[0]) {
    if (!this.#isPossible() || !side) return;
    if (side === "shown" && this.#isComparison) side = "newer";
    const paths = this.items.map((item) => ({ ...pathQuery(item), snapshots: this.#snapshots(item, side) }));
    const plan = await this.#ask({ paths });
    if (plan) this.#show(plan, this.#titleOf(plan));
  }

  /** Puts the older lines of hunks back into the file on disk. */
  async lines(item, { older, newer }, hunks, digest) {
    if (!this.#isPossible()) return;
    const plan = await this.#ask({ lines: { ...pathQuery(item), older, newer, hunks, digest } });
    if (plan) this.#show(plan, `Put lines back into ${shortened(nameOf(item.path), 40)}`);
  }

  /** Asks for the name and the directory of a copy, then shows its plan. */
  copy() {
    if (!this.#isPossible() || this.items.length !== 1 || !this.items[0].path) return;
    const { position, roots } = this.#page;
    const item = this.items[0];
    const snapshot = item.lastIn ?? position.holder;
    const time = item.lastTime ?? this.#page.sideSnapshot(snapshot)?.time ?? position.b.time;
    const name = element("input", { id: "copy-name", type: "text", autocomplete: "off", spellcheck: "false" });
    name.value = copyName(nameOf(item.path), time);
    const directory = element("input", { id: "copy-directory", type: "text", autocomplete: "off", spellcheck: "false" });
    const folder = folderOf(item.path);
    // A name that is not text stays where it is: the server knows its bytes.
    const beside = item.pathBytes ? "" : roots.path(position.root) + (folder ? "/" + folder : "");
    directory.value = beside;
    const write = async () => {
      const isBeside = directory.value === beside;
      const plan = await this.#ask({ copy: {
        ...pathQuery(item), snapshot, name: name.value, directory: isBeside && roots.isHere(position.root) ? null : directory.value,
      } }, (error) => {
        problem.hidden = false;
        problem.textContent = [error.message, error.remedy].filter(Boolean).join("; ");
      });
      if (plan) this.#show(plan, `Copy ${shortened(nameOf(item.path), 40)} as it was`);
    };
    const problem = element("p", { class: "strip changed", role: "alert", hidden: true });
    for (const input of [name, directory]) input.addEventListener("keydown", (event) => event.key === "Enter" && write());
    this.#dialog = openDialog("copy-dialog", `Copy ${shortened(nameOf(item.path), 40)} as of ${moment(time)}`, [
      problem, element("p", {}, element("label", { for: "copy-name", text: "Name of the copy" })), name,
      element("p", {}, element("label", { for: "copy-directory", text: "Directory" })), directory,
    ], [button("Cancel", () => this.#dialog.close()), button("Show the plan", write, { class: "primary", id: "copy-plan" })]);
    name.select();
  }

  #isPossible() {
    const { api, position } = this.#page;
    if (api.isReadOnly) say(api.readOnlyText);
    return !api.isReadOnly && position.b !== null && !(this.#dialog?.open && this.#dialog.id === "plan");
  }

  async #ask(wish, onerror = complain) {
    try {
      return await this.#page.api.post("restore/plan", wish);
    } catch (error) {
      onerror(error);
      if (error.status === 409) this.#page.refresh();
      return null;
    }
  }

  #titleOf({ sources }) {
    if (sources.length !== 1) return `Restore ${this.name}, each as it was last`;
    // Two snapshots may be of one second.
    const { time, short } = sources[0].snapshot;
    return `Restore ${this.name} as of ${moment(time)} (${short})`;
  }

  #show(plan, title, warning = null) {
    this.#dialog?.close();
    const { deleted, bytesWritten } = plan.counts;
    const lines = plan.hunks.length ? diffRows(plan.hunks).filter((row) => row.sign !== "@") : [];
    const changes = lines.length ? element("div", { class: "plan-list lines diff", tabindex: "0", role: "region", "aria-label": "Lines that change in the file on disk" },
      element("div", { class: "chunk" }, ...lines.map((row) => unifiedLine(row)))) : "";
    if (changes) changes.style.setProperty("--digits", String(Math.max(3, ...lines.map((row) => String(row.right ?? row.left).length))));
    const content = [
      warning ? element("p", { class: "strip changed", role: "alert", text: warning }) : "",
      element("p", { class: "summary", id: "plan-summary", text: plan.nothingToDo
        ? "Nothing to do: the directory is already like this."
        : `${work(plan.counts)}, ${bytes(bytesWritten)}. Nothing is changed before Apply. The present state is captured first, so that Undo can restore it.` }),
      plan.excluded ? element("p", { class: "facts", text: `${counted(plan.excluded, "path")} excluded from snapshots, left alone.` }) : "",
      ...plan.warnings.map((warning) => element("p", { class: "facts", text: warning })),
      changes,
      plan.actions.length && !lines.length ? element("ul", { class: "plan-list", tabindex: "0", "aria-label": "Plan" }, ...plan.actions.map(action)) : "",
      plan.isTruncated ? element("p", { class: "facts", text: `The first ${plan.actions.length} are shown.` }) : "",
      plan.command ? element("p", {}, element("span", { class: "muted", text: "The same on a command line: " }), element("code", { class: "wrap", text: plan.command })) : "",
    ];
    const cancel = button(plan.nothingToDo ? "Close" : "Cancel", () => this.#dialog.close(), { id: "cancel" });
    const apply = plan.nothingToDo ? null
      : button("Apply", () => this.#apply(plan, title), { id: "apply", class: deleted ? "primary danger" : "primary" });
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
      const what = title.startsWith("Restore") ? title.replace(/^Restore/, "Restored") : upperFirst(escaped(done.message));
      const text = `${what}: ${work(done)}${done.excluded ? `, ${number(done.excluded)} excluded left alone` : ""}.`;
      say(text, ...(done.operation ? [["Undo", () => this.#page.operations.undo(), { id: "message-undo" }]] : []));
      if (done.problemPaths.length) showProblems(done.problemPaths);
      this.#page.refresh();
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && error.body.plan) {
        return this.#show(error.body.plan, title, "The directory has changed since this plan was made. Nothing was written. This is the new plan.");
      }
      this.#dialog.close();
      complain(error);
      this.#page.refresh();
    }
  }
}

const upperFirst = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** "chapter3.md" becomes "chapter3 (12:04).md"; versions of other days have their date, too. */
function copyName(name, time) {
  const dot = name.lastIndexOf(".");
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  return `${stem} (${versionTime(time)})${end}`;
}

const action = ({ action: kind, path, bytes: size }) => element("li", { class: kind },
  element("span", { class: "mark", text: marks[kind], "aria-hidden": "true" }),
  nameElement(path, "path"), element("span", { class: "word", text: words[kind] }),
  element("span", { class: "size", text: kind === "create" || kind === "replace" ? bytes(size) : "" }));

/** "2 written, 1 removed": what was or would be done, in short. */
export const work = ({ created, replaced, metadata, deleted }) =>
  `${number(created + replaced + metadata)} written, ${number(deleted)} removed`;

export function showProblems(problems) {
  openDialog("problems", "Some entries could not be restored", [
    element("ul", { class: "plan-list", tabindex: "0", "aria-label": "Problems" }, ...problems.map((problem) =>
      element("li", { class: "problem" }, nameElement(problem.path, "path"), element("span", { text: problem.message })))),
  ]);
}
