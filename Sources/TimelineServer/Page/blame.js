// Which snapshot introduced each line of a file. The margin is a button that opens that moment's diff.

import { button, element, notice } from "./elements.js";
import { brief, moment } from "./dates.js";
import { pathQuery } from "./names.js";
import { Lines } from "./lines.js";
import { lineNodes } from "./text.js";

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
    const facts = [answer.encoding, answer.isTruncated ? "only the beginning of a long file: the command below prints all of it" : ""];
    this.box.replaceChildren(this.#lines.element, element("p", { class: "facts", text: facts.filter(Boolean).join(", ") }));
    this.box.scrollTop = top;
  }

  #line({ lines, origins }, index) {
    const [text, from] = lines[index];
    const { snapshot, before } = origins[from];
    const isFirst = index === 0 || lines[index - 1][1] !== from;
    const line = element("div", { class: isFirst ? "line first" : "line", "data-n": index + 1 });
    if (isFirst) {
      line.append(button("", () => {
        this.#page.goTo(snapshot);
        this.#page.show("diff");
      }, { class: "origin", title: moment(snapshot.time), "aria-label": `Line ${index + 1}: since ${moment(snapshot.time)}` }));
      line.firstChild.append(element("code", { text: snapshot.short }), " " + brief(snapshot.time));
      // The file as it was before this change, perhaps under another name.
      if (before) {
        line.append(button("‹", () => this.#page.openAt({ ...before, snapshot: undefined, kind: "file" }, before.snapshot, null, "blame"), {
          class: "before", title: "Blame before this change", "aria-label": `Line ${index + 1}: blame before this change`,
        }));
      }
    } else line.append(element("span", { class: "origin" }));
    line.append(element("span", { class: "words" }, ...lineNodes([{ text, isMarked: false }])));
    return line;
  }
}
