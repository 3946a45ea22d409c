// A list or tree of any length; only the rows in view exist. One row is active: the keyboard moves it, and
// aria-activedescendant announces it to assistive technology.

import { element } from "./elements.js";

let made = 0;

export class Rows {
  #box;
  #height;
  #render;
  #inner;
  #count = 0;
  #prefix = `row-${(made += 1)}-`;
  active = -1;

  /** `render(index)` returns an element with the right role; `onactive(index)` is called when a row becomes active. */
  constructor(box, height, render, { onactive = () => {}, onkey = () => false } = {}) {
    this.#box = box;
    this.#height = height;
    this.#render = render;
    this.#inner = element("div", { class: "rows", role: "presentation" });
    box.replaceChildren(this.#inner);
    box.addEventListener("scroll", () => this.#fill(), { passive: true });
    new ResizeObserver(() => this.#fill()).observe(box);
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(1, Math.floor(box.clientHeight / height) - 1);
      const steps = { ArrowDown: 1, ArrowUp: -1 };
      if (event.key in steps && !event.shiftKey && this.#count) {
        this.activate(Math.min(this.#count - 1, Math.max(0, this.active + steps[event.key])), onactive);
      } else if (!onkey(event, this.active, page)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.#inner.addEventListener("click", (event) => {
      const row = event.target.closest("[data-index]");
      if (row) this.activate(Number(row.dataset.index), onactive, event);
    });
  }

  update(count, active = this.active) {
    this.#count = count;
    this.active = Math.min(active, count - 1);
    this.#inner.style.setProperty("height", `${count * this.#height}px`);
    this.#fill();
  }

  activate(index, heard = () => {}, event = null) {
    this.active = index;
    this.reveal(index);
    this.#fill();
    heard(index, event);
  }

  reveal(index) {
    if (index < 0) return;
    const top = index * this.#height;
    const box = this.#box;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + this.#height > box.scrollTop + box.clientHeight) box.scrollTop = top + this.#height - box.clientHeight;
  }

  #fill() {
    const first = Math.max(0, Math.floor(this.#box.scrollTop / this.#height) - 6);
    const last = Math.min(this.#count, Math.ceil((this.#box.scrollTop + this.#box.clientHeight) / this.#height) + 6);
    const shown = [];
    for (let index = first; index < last; index += 1) {
      const row = this.#render(index);
      row.id = this.#prefix + index;
      row.dataset.index = index;
      row.setAttribute("aria-setsize", this.#count);
      row.setAttribute("aria-posinset", index + 1);
      row.classList.toggle("active", index === this.active);
      row.style.setProperty("top", `${index * this.#height}px`);
      shown.push(row);
    }
    this.#inner.replaceChildren(...shown);
    const isShown = this.active >= first && this.active < last;
    if (isShown) this.#box.setAttribute("aria-activedescendant", this.#prefix + this.active);
    else this.#box.removeAttribute("aria-activedescendant");
  }
}
