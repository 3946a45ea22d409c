// Which snapshot introduced each line of a file. The margin is a button that opens that moment's diff.

import { button, element, notice } from "./elements.js";
import { brief, moment } from "./dates.js";
import { escapedLine, pathQuery } from "./names.js";
import { Lines } from "./lines.js";

export class Blame {
  #page;
  #lines = null;

  constructor(page, box) {
    this.#page = page;
    this.box = box;
  }

  async load(signal) {
    const { api, position } = this.#page;
    const { item } = position;
    if (!item) return this.box.replaceChildren(notice("Choose a file to see which snapshot introduced each of its lines."));
    const answer = await api.get("blame", { snapshot: position.holder, ...pathQuery(item) }, { isFixed: true, signal });
    if (signal.aborted) return;
    this.#lines?.disconnect();
    if (!answer.lines.length) return this.box.replaceChildren(notice("An empty file."));
    this.#lines = new Lines(answer.lines.length, (index) => this.#line(answer, index), this.box, "lines text blame-lines");
    const top = this.box.scrollTop;
    this.box.replaceChildren(this.#lines.element, answer.isTruncated
      ? element("p", { class: "facts", text: "Only the beginning of a long file. The command below prints all of it." }) : "");
    this.box.scrollTop = top;
  }

  /** Shows the blame of the file as it was before a snapshot changed it. */
  async #before(snapshot) {
    const parent = await this.#page.walk.withID(snapshot.parent).catch(() => null);
    if (parent) this.#page.goTo(parent);
  }

  #line({ lines, snapshots }, index) {
    const [text, from] = lines[index];
    const snapshot = snapshots[from];
    const isFirst = index === 0 || lines[index - 1][1] !== from;
    const line = element("div", { class: isFirst ? "line first" : "line", "data-n": index + 1 });
    if (isFirst && snapshot) {
      line.append(button("", () => {
        this.#page.goTo(snapshot);
        this.#page.show("diff");
      }, { class: "origin", title: moment(snapshot.time), "aria-label": `Line ${index + 1}: since ${moment(snapshot.time)}` }));
      line.firstChild.append(element("code", { text: snapshot.short }), " " + brief(snapshot.time));
      if (snapshot.parent) {
        line.append(button("‹", () => this.#before(snapshot), {
          class: "before", title: "Blame before this change", "aria-label": `Line ${index + 1}: blame before this change`,
        }));
      }
    } else line.append(element("span", { class: "origin" }, isFirst ? "unknown" : ""));
    line.append(element("span", { class: "words", text: escapedLine(text) || "\u200b" }));
    return line;
  }
}
