// Lines of text that may wrap. Few lines are all in the page, so that the browser's own search and copying work in all of
// them. Many lines are rendered in chunks while in view, and replaced by an empty box of the same height when not.

import { element } from "./elements.js";

/** The most lines that are all in the page. */
const wholeLimit = 5000;

export class Lines {
  #count;
  #render;
  #size;
  #chunks = [];
  #observer;
  element;

  /** `render(index)` returns the element of one line. `scroller` is the element that scrolls. */
  constructor(count, render, scroller, className = "lines") {
    this.#count = count;
    this.#render = render;
    this.#size = Math.max(40, Math.ceil(count / 150));
    this.element = element("div", { class: className });
    this.#observer = new IntersectionObserver((found) => {
      for (const each of found) this.#set(Number(each.target.dataset.chunk), each.isIntersecting);
    }, { root: scroller, rootMargin: "400px 0px" });
    for (let first = 0, chunk = 0; first < count; first += this.#size, chunk += 1) {
      const box = element("div", { class: "chunk", "data-chunk": chunk });
      this.#chunks.push(box);
      if (count <= wholeLimit) this.#set(chunk, true);
      else {
        box.style.setProperty("min-height", `${Math.min(this.#size, count - first) * 1.5}em`);
        this.#observer.observe(box);
      }
    }
    this.element.append(...this.#chunks);
    this.#set(0, true);
    const digits = String(count).length;
    this.element.style.setProperty("--digits", String(Math.max(3, digits)));
  }

  #set(chunk, isShown) {
    const box = this.#chunks[chunk];
    if (!box || isShown === box.hasChildNodes()) return;
    if (isShown) {
      const first = chunk * this.#size;
      const last = Math.min(this.#count, first + this.#size);
      const lines = [];
      for (let index = first; index < last; index += 1) lines.push(this.#render(index));
      box.replaceChildren(...lines);
      box.style.removeProperty("min-height");
    } else {
      box.style.setProperty("min-height", `${box.offsetHeight}px`);
      box.replaceChildren();
    }
  }

  /** Scrolls a line to the middle of the view. */
  reveal(index) {
    const chunk = Math.floor(index / this.#size);
    this.#set(chunk, true);
    this.#chunks[chunk]?.children[index % this.#size]?.scrollIntoView({ block: "center" });
  }

  disconnect() {
    this.#observer.disconnect();
  }
}
