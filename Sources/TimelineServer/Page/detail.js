// The right pane: the selected entry, its place among its versions, and one of four views of it.

import { byId, element, notice, settled } from "./elements.js";
import { isAborted } from "./api.js";
import { brief, moment } from "./dates.js";
import { nameElement } from "./names.js";
import { number } from "./amounts.js";
import { Blame } from "./blame.js";
import { Difference } from "./difference.js";
import { Preview } from "./preview.js";
import { Versions } from "./versions.js";
import { neighbour } from "./walk.js";

export const views = ["preview", "diff", "history", "blame"];

export class Detail {
  #page;
  #panes;
  #request = null;

  constructor(page) {
    this.#page = page;
    this.#panes = {
      preview: new Preview(page, byId("preview")),
      diff: new Difference(page, byId("difference")),
      history: new Versions(page, byId("history")),
      blame: new Blame(page, byId("blame")),
    };
    for (const view of views) byId(`tab-${view}`).addEventListener("click", () => page.show(view));
    byId("version-earlier").addEventListener("click", () => page.step("version", -1));
    byId("version-later").addEventListener("click", () => page.step("version", 1));
    byId("to-files").addEventListener("click", () => page.select(null));
    page.position.addEventListener("change", ({ detail }) => {
      if (detail.has("view")) this.#tabs();
      if (detail.has("item") || detail.has("root") || detail.has("b")) this.#title();
      // The pane still shows the old position.
      this.#panes[this.view].box.setAttribute("aria-busy", "true");
      this.#refreshSoon();
    });
    this.#tabs();
    this.#title();
  }

  get view() {
    return this.#page.position.view;
  }

  #tabs() {
    for (const view of views) {
      const tab = byId(`tab-${view}`);
      tab.setAttribute("aria-selected", String(view === this.view));
      byId(tab.getAttribute("aria-controls")).hidden = view !== this.view;
    }
  }

  #title() {
    const { item } = this.#page.position;
    byId("title").replaceChildren(item ? nameElement(item.path, "path", 22)
      : this.#page.position.b ? "What changed at this moment" : "");
    byId("main").classList.toggle("has-item", item !== null);
    byId("to-files").hidden = !item;
    byId("version-walk").hidden = !item;
    byId("tab-blame").hidden = !item || item.kind === "directory";
    if (byId("tab-blame").hidden && this.view === "blame") this.#page.show("preview");
  }

  #refreshSoon = settled(60, () => this.refresh());

  async refresh() {
    this.#request?.abort();
    const request = (this.#request = new AbortController());
    const { position } = this.#page;
    if (!position.b) {
      return Object.values(this.#panes).forEach((pane) => pane.box.replaceChildren(this.#page.emptyNotice()));
    }
    this.#place(request.signal);
    const pane = this.#panes[this.view];
    pane.box.setAttribute("aria-busy", "true");
    // Do not show another path's content while this one's is loading.
    const key = `${position.root} ${position.item?.pathBytes ?? position.item?.path ?? ""}`;
    const isOther = pane.shown !== key;
    const late = setTimeout(() => isOther && pane.box.replaceChildren(notice("Loading…")), 150);
    request.signal.addEventListener("abort", () => clearTimeout(late));
    try {
      await pane.load(request.signal);
    } catch (error) {
      if (isAborted(error) || request.signal.aborted) return;
      pane.box.replaceChildren(errorNotice(error));
    }
    clearTimeout(late);
    if (request.signal.aborted) return;
    pane.shown = key;
    pane.box.setAttribute("aria-busy", "false");
  }

  /** Shows "version 12 of 45", and enables the buttons for earlier and later versions. */
  async #place(signal) {
    const { position, walk } = this.#page;
    const text = byId("version-place");
    if (!position.item) return this.#page.showVersions([]);
    try {
      const { list, hasMore } = await walk.versions(position.item);
      if (signal.aborted) return;
      const index = list.findIndex((version) => version.snapshot.time <= position.b.time);
      const whole = number(list.length) + (hasMore ? "+" : "");
      const isExact = list[index]?.snapshot.id === position.b.id;
      if (index < 0 && hasMore) text.textContent = `before the latest ${number(list.length)} versions`;
      else if (index < 0) text.textContent = list.length ? `before the first of ${whole} versions` : "no version";
      else text.textContent = `version ${number(list.length - index)} of ${whole}` +
        (isExact ? "" : `, from ${brief(list[index].snapshot.time)}`);
      text.title = index >= 0 ? "Captured " + moment(list[index].snapshot.time) : "";
      byId("version-earlier").disabled = !neighbour(list, position.b, -1) && !hasMore;
      byId("version-later").disabled = !neighbour(list, position.b, 1);
      this.#page.showVersions(list.map((version) => version.snapshot.time));
    } catch (error) {
      if (!isAborted(error)) text.textContent = "";
    }
  }
}

export const errorNotice = (error) =>
  notice(error.message, error.remedy ? element("p", { class: "muted", text: error.remedy }) : null);
