// The history of a path, newest first: one row per version, grouped by day. Versions of a file show their change of
// size: a large cut shows as a long bar. Versions of a directory name what changed, and are grouped by session, too.

import { element, notice } from "./elements.js";
import { bytes, changeWords, churn, counted, marks, signedBytes } from "./amounts.js";
import { brief, clock, date, moment, startOfDay } from "./dates.js";
import { escaped, nameOf, shortened } from "./names.js";
import { Rows } from "./rows.js";

export class Versions {
  #page;
  #list = null;
  #versions = [];
  /** Heads, which are {head, isDay}, and versions, which are {index}. */
  #rows = [];
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
    const item = position.item ?? { path: "", kind: "directory" };
    const { list, hasMore } = await walk.versions(item, 200, signal);
    const isFolder = item.kind === "directory";
    const sessions = isFolder && list.length ? await walk.sessionsOf(list).catch(() => []) : [];
    if (signal.aborted) return;
    this.#versions = list;
    this.#hasMore = hasMore;
    if (!list.length) return this.box.replaceChildren(notice("No version of this path is in the archive."));
    this.#rows = grouped(list, sessions);
    this.#most = Math.max(1, ...list.map((_, index) => Math.abs(this.#delta(index))));
    if (!this.listBox.isConnected) this.box.replaceChildren(this.listBox);
    const current = list.findIndex((version) => version.snapshot.time <= position.b.time);
    const row = this.#rows.findIndex((row) => row.index === current);
    this.#list.update(this.#rows.length + (hasMore ? 1 : 0), row);
    this.#list.reveal(row);
  }

  #delta(index) {
    const version = this.#versions[index];
    const size = version.isPresent ? version.size : 0;
    const before = this.#versions[index + 1];
    if (!before && this.#hasMore) return 0;
    return size - (before?.isPresent ? before.size : 0);
  }

  async #activate(index, event) {
    if (index >= this.#rows.length) {
      await this.#page.walk.versions(this.#page.position.item ?? { path: "" }, this.#versions.length * 5);
      return this.#page.refresh();
    }
    const version = this.#versions[this.#rows[index].index];
    if (!version) return;
    if (event?.shiftKey) this.#page.compareWith(version.snapshot);
    else this.#page.goTo(version.snapshot);
  }

  #render(index) {
    const row = element("div", { role: "option", class: "row version", "aria-selected": String(index === this.#list?.active) });
    const place = this.#rows[index];
    if (!place) {
      row.classList.add("more");
      row.append("Show earlier versions…");
      return row;
    }
    if (place.head) {
      row.classList.add("head", place.isDay ? "day" : "session");
      row.setAttribute("aria-disabled", "true");
      row.append(place.head);
      return row;
    }
    const version = this.#versions[place.index];
    const { snapshot, change } = version;
    const isFile = version.kind === "file";
    const other = version.otherPath ? " " + shortened(version.otherPath, 40) : "";
    row.title = moment(snapshot.time) + (other ? ", " + changeWords[change] + " " + escaped(version.otherPath) : "");
    row.append(
      element("span", { class: `mark ${change}`, text: marks[change] ?? "", "aria-hidden": "true" }),
      element("span", { class: "time", text: clock(snapshot.time) }),
      element("code", { text: snapshot.short }),
      element("span", { class: "word" }, version.changedPaths ? namesText(version) : changeWords[change] + other, snapshot.label
        ? element("span", { class: "label", text: " ◆ " + shortened(snapshot.label, 40) }) : ""),
      version.isPresent ? this.#page.smallPictures.of(snapshot.id, version) : "");
    if (!isFile) return row;
    const delta = this.#delta(place.index);
    const bar = element("span", { class: "bar " + (delta < 0 ? "less" : "more") });
    bar.style.setProperty("--part", String(Math.sqrt(Math.abs(delta) / this.#most)));
    row.append(
      element("span", { class: "size", text: version.isPresent ? bytes(version.size) : "" }),
      element("span", { class: "delta", text: signedBytes(delta) }), bar);
    return row;
  }
}

/** "8 changed: SocketAddresses.swift, Server.swift, …" */
function namesText({ counts, changedPaths, change }) {
  const all = counts.added + counts.modified + counts.removed;
  if (change === "added") return `the first snapshot: ${churn(counts)}`;
  const more = all > changedPaths.length && changedPaths.length ? ", …" : "";
  return churn(counts) + (changedPaths.length ? ": " : "") + changedPaths.map((path) => shortened(nameOf(path), 40)).join(", ") + more;
}

function grouped(list, sessions) {
  const rows = [];
  let [day, session] = [null, null];
  for (const [index, { snapshot }] of list.entries()) {
    if (startOfDay(snapshot.time) !== day) {
      day = startOfDay(snapshot.time);
      session = null;
      rows.push({ head: date(snapshot.time), isDay: true });
    }
    const own = sessions.find(({ start, end }) => start <= snapshot.time && snapshot.time <= end);
    if (own && own !== session) {
      session = own;
      rows.push({ head: `${brief(own.start)} – ${clock(own.end)}, ${counted(own.snapshots, "snapshot")}`, isDay: false });
    }
    rows.push({ index });
  }
  return rows;
}
