// The status chip at the top: whether the directory is watched, until which moment, and whether the server answers.

import { byId, element } from "./elements.js";
import { clock, moment } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { say } from "./messages.js";

export class Status {
  #page;
  #status = null;
  #absence = null;
  #chip = byId("status");

  constructor(page) {
    this.#page = page;
    for (const name of ["offline", "online"]) page.api.addEventListener(name, () => this.show());
    page.position.addEventListener("change", ({ detail }) => detail.has("root") && this.load());
    this.#chip.addEventListener("click", () => this.#open());
  }

  async load() {
    const { api, position } = this.#page;
    if (!position.root) return;
    this.set(await api.get("status", { root: position.root }).catch(() => this.#status));
  }

  set(status) {
    this.#status = status;
    this.show();
  }

  /** The watcher has captured everything up to this time. */
  watchedTo(time) {
    if (!this.#status?.watched) return;
    this.#status.lastWatched = time;
    this.show();
  }

  /** `text`: why the archive cannot be found; null if it can. */
  setAbsence(text) {
    this.#absence = text;
    this.show();
    if (text) say(text);
  }

  show() {
    const [state, text] = this.#words();
    this.#chip.dataset.state = state;
    byId("status-text").textContent = text;
  }

  #words() {
    if (this.#page.api.isOffline) return ["offline", "offline"];
    if (this.#absence) return ["finding", "archive is gone"];
    const status = this.#status;
    if (!status) return ["unknown", "…"];
    if (status.findings.length) return ["finding", status.findings.length === 1 ? "1 finding" : `${status.findings.length} findings`];
    if (!status.watched) return ["idle", "not watched"];
    return ["watched", status.lastWatched ? `watched to ${clock(status.lastWatched)}` : "watched"];
  }

  #open() {
    const { api } = this.#page;
    const status = this.#status;
    const parts = this.#absence ? [element("p", { class: "strip changed", text: this.#absence })] : [];
    if (api.isOffline) {
      parts.push(element("p", { text: "The server does not answer. Anything shown before can be shown again. The page retries automatically; if the server has ended, run archiver browse again." }));
    }
    if (status) {
      parts.push(element("p", { text: status.watched
        ? `Watched. Every change is captured${status.lastWatched ? ` up to ${moment(status.lastWatched)}` : ""}.`
        : "Not watched: changes are not being captured. Run archiver watch in this directory." }));
      for (const finding of status.findings) {
        parts.push(element("div", { class: "strip changed" }, element("p", { text: finding.message }), element("p", { class: "muted", text: finding.remedy })));
      }
    }
    const { archive, version } = api.details;
    parts.push(element("p", { class: "muted wrap", text: version ? `Archive ${archive}, archiver ${version}` : `Archive ${archive}` }));
    openDialog("status-dialog", "Status", parts);
  }
}
