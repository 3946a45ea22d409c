// The history of a path: one row per version, newest first, with its change of size. A large cut shows as a long bar.

import { element, notice } from "./elements.js";
import { bytes, marks, signedBytes } from "./amounts.js";
import { brief, moment } from "./dates.js";
import { escaped, shortened } from "./names.js";
import { Rows } from "./rows.js";

const words = {
  added: "added", changed: "changed", removed: "removed", renamed: "renamed from", renamedAway: "renamed to",
};

export class Versions {
  #page;
  #list = null;
  #versions = [];
  #hasMore = false;
  #most = 1;

  constructor(page, box) {
    this.#page = page;
    this.box = box;
    this.listBox = element("div", { role: "listbox", tabindex: "0", "aria-label": "Versions", class: "versions" });
    this.#list = new Rows(this.listBox, 30, (index) => this.#render(index), {
      onactive: (index, event) => this.#activate(index, event),
      onkey: (event, index) => {
        if (event.key !== "Enter" || index < 0) return false;
        page.show("diff");
        return true;
      },
    });
  }

  async load(signal) {
    const { position, walk } = this.#page;
    const item = position.item ?? { path: "" };
    const { list, hasMore } = await walk.versions(item, 200, signal);
    if (signal.aborted) return;
    this.#versions = list;
    this.#hasMore = hasMore;
    if (!list.length) return this.box.replaceChildren(notice("No version of this path is in the archive."));
    this.#most = Math.max(1, ...list.map((_, index) => Math.abs(this.#delta(index))));
    if (!this.listBox.isConnected) this.box.replaceChildren(this.listBox);
    const current = list.findIndex((version) => version.snapshot.time <= position.b.time);
    this.#list.update(list.length + (hasMore ? 1 : 0), current);
    this.#list.reveal(current);
  }

  #delta(index) {
    const version = this.#versions[index];
    const size = version.isPresent ? version.size : 0;
    const before = this.#versions[index + 1];
    if (!before && this.#hasMore) return 0;
    return size - (before?.isPresent ? before.size : 0);
  }

  async #activate(index, event) {
    if (index >= this.#versions.length) {
      await this.#page.walk.versions(this.#page.position.item ?? { path: "" }, this.#versions.length * 5);
      return this.#page.refresh();
    }
    const { snapshot } = this.#versions[index];
    if (event?.shiftKey) this.#page.compareWith(snapshot);
    else this.#page.goTo(snapshot);
  }

  #render(index) {
    const row = element("div", { role: "option", class: "row version", "aria-selected": String(index === this.#list?.active) });
    const version = this.#versions[index];
    if (!version) {
      row.classList.add("more");
      row.append("Show earlier versions…");
      return row;
    }
    const { snapshot, change } = version;
    const delta = this.#delta(index);
    const isFile = version.kind === "file";
    const bar = element("span", { class: "bar " + (delta < 0 ? "less" : "more") });
    bar.style.setProperty("--part", String(Math.sqrt(Math.abs(delta) / this.#most)));
    const other = version.otherPath ? " " + shortened(version.otherPath, 40) : "";
    row.title = moment(snapshot.time) + (other ? ", " + words[change] + " " + escaped(version.otherPath) : "");
    row.append(
      element("span", { class: `mark ${change}`, text: marks[change] ?? "", "aria-hidden": "true" }),
      element("span", { class: "time", text: brief(snapshot.time) }),
      element("code", { text: snapshot.short }),
      element("span", { class: "word" }, words[change] + other, snapshot.label
        ? element("span", { class: "label", text: " ◆ " + shortened(snapshot.label, 40) }) : ""),
      version.isPresent ? this.#page.smallPictures.of(snapshot.id, version) : "",
      element("span", { class: "size", text: isFile && version.isPresent ? bytes(version.size) : "" }),
      element("span", { class: "delta", text: isFile ? signedBytes(delta) : "" }), isFile ? bar : "");
    return row;
  }
}
