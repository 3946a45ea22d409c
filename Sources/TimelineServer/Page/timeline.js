// <archiver-timeline>: a horizontal scroller through time, independent of server and page: a data source supplies the
// contents of a span, a delegate receives the choices. It draws a few paths, however many snapshots there are.
//
// dataSource: { async extent() → {first, last, recent: the start of the first view},
//               async contents(from, to, width, signal) → {buckets, width, labels, restores, gaps, work} }
// delegate:   { choose(time, isA), hint(time, bucket, contents) → text }

import { button, element, settled } from "./elements.js";
import { hour, minute, range, second } from "./dates.js";
import { alignedDown, barWidth, zooms } from "./scale.js";
import { listenToPointer } from "./timeline-pointer.js";
import { drawOverview, drawTimeline } from "./timeline-drawing.js";

const leastSpan = second;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

export class ArchiverTimeline extends HTMLElement {
  dataSource = null;
  delegate = null;
  /** The times of the two moments, and those of the versions of the selected entry. */
  marks = { a: null, b: null };
  versions = [];

  #from = 0;
  #to = hour;
  #extent = null;
  #contents = null;
  #overview = null;
  #width = 0;
  #request = null;
  #motion = 0;

  connectedCallback() {
    if (this.scroller) return;
    this.span = element("span", { class: "range", id: "range" });
    this.zoomButtons = [{ name: "All", span: Infinity }, ...zooms].map((zoom) =>
      button(zoom.name, () => this.zoomTo(zoom.span), { class: "zoom-step", "aria-pressed": "false" }));
    this.append(
      element("div", { class: "timeline-head" },
        this.fold = button("", () => this.#fold(!this.classList.contains("folded")), { id: "timeline-fold", class: "plain" }),
        this.span,
        element("ul", { class: "legend", "aria-label": "Legend" },
          ...[["bar-up", "added, changed"], ["bar-down", "removed"], ["session", "session"], ["gap", "gap"]].map(
            ([name, text]) => element("li", {}, element("span", { class: "swatch " + name }), text)),
          element("li", { text: "◆ label" }), element("li", { text: "↶ restore" })),
        element("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
          button("−", () => this.zoomBy(3), { "aria-label": "Zoom out", title: "Zoom out (-)" }),
          ...this.zoomButtons,
          button("+", () => this.zoomBy(1 / 3), { "aria-label": "Zoom in", title: "Zoom in (+)" }))),
      this.scroller = element("div", {
        id: "scroller", role: "slider", tabindex: "0", "aria-label": "Moment", "aria-orientation": "horizontal",
        "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0", "aria-valuetext": "no snapshot",
      }),
      this.strip = element("div", { id: "overview", "aria-hidden": "true" }),
      this.tip = element("div", { class: "tip", hidden: true }));
    // A small window shows the files first.
    const isSmall = matchMedia("(max-width: 760px), (max-height: 560px)");
    isSmall.addEventListener("change", () => this.#fold(isSmall.matches));
    this.#fold(isSmall.matches);
    new ResizeObserver(() => this.#resize()).observe(this);
    listenToPointer(this);
  }

  /** Folding shows in small windows only. */
  #fold(isFolded) {
    this.classList.toggle("folded", isFolded);
    this.fold.textContent = isFolded ? "▸ Timeline" : "▾ Timeline";
    this.fold.setAttribute("aria-expanded", String(!isFolded));
  }

  /** Reloads everything, for another root or after a capture; the view stays unless `isFresh`. */
  async reload(isFresh = false) {
    if (isFresh) {
      this.#contents = this.#overview = this.#extent = null;
      this.versions = [];
    }
    this.#extent = await this.dataSource.extent();
    const { first, last, recent } = this.#extent;
    if (isFresh && last !== null) {
      this.#begin(first, last, recent);
      this.show(this.marks.b);
    }
    await this.#load();
    await this.#loadOverview();
  }

  // The first view: the last few sessions, at the closest zoom step that shows them all.
  #begin(first, last, recent) {
    const steps = zooms.map((zoom) => zoom.span).reverse().filter((span) => span >= hour);
    const wanted = (last - recent) * 1.15;
    const span = Math.min(Math.max(10 * minute, (last - first) * 1.15), steps.find((span) => span >= wanted) ?? steps.at(-1));
    cancelAnimationFrame(this.#motion);
    this.#from = last - span * 0.93;
    this.#to = this.#from + span;
  }

  setValue(value, text) {
    this.scroller.setAttribute("aria-valuenow", String(value));
    this.scroller.setAttribute("aria-valuetext", text);
  }

  /** Redraws; with a time, scrolls it into view. */
  show(time = null) {
    this.tip.hidden = true;
    if (!this.#extent) return this.#draw();
    const span = this.#to - this.#from;
    if (time !== null && (time < this.#from + span * 0.04 || time > this.#to - span * 0.06)) {
      // A step just past the edge scrolls a little; a longer one centres the moment.
      const isNear = time > this.#from - span && time < this.#to + span;
      const place = !isNear ? 0.5 : time < this.#from + span / 2 ? 0.3 : 0.7;
      return this.#move(time - span * place, time + span * (1 - place));
    }
    this.#draw();
  }

  zoomTo(span) {
    if (!this.#extent || this.#extent.first === null) return;
    const { first, last } = this.#extent;
    const whole = Math.max(minute, (last - first) * 1.06);
    if (span === Infinity) return this.#move(first - (last - first) * 0.02 - second, first + whole + second);
    this.#zoomAround(span, this.#centre());
  }

  zoomBy(factor, centre = this.#centre()) {
    this.#zoomAround((this.#to - this.#from) * factor, centre);
  }

  // B stays in place if it is in view.
  #centre() {
    const b = this.marks.b;
    return b !== null && b >= this.#from && b <= this.#to ? b : (this.#from + this.#to) / 2;
  }

  #zoomAround(span, centre) {
    const longest = this.#extent ? Math.max(zooms[0].span, (this.#extent.last - this.#extent.first) * 1.5) : zooms[0].span;
    const wanted = Math.min(longest, Math.max(leastSpan, span));
    const place = (centre - this.#from) / (this.#to - this.#from);
    let from = centre - wanted * place;
    // Do not show much empty space before the first or after the latest moment.
    if (this.#extent && this.#extent.first !== null) {
      const { first, last } = this.#extent;
      from = Math.min(from, Math.max(last - wanted * 0.93, first - wanted * 0.04));
      from = Math.max(from, Math.min(first - wanted * 0.04, last - wanted * 0.93));
    }
    this.#move(from, from + wanted);
  }

  #move(from, to) {
    cancelAnimationFrame(this.#motion);
    const start = { time: performance.now(), from: this.#from, to: this.#to };
    const step = (now) => {
      const done = isCalm.matches ? 1 : Math.min(1, Math.max(0, (now - start.time) / 180));
      const eased = 1 - (1 - done) ** 3;
      this.#from = start.from + (from - start.from) * eased;
      this.#to = start.to + (to - start.to) * eased;
      this.#draw();
      if (done < 1) this.#motion = requestAnimationFrame(step);
      else this.#loadSoon();
    };
    if (isCalm.matches) step(start.time);
    else this.#motion = requestAnimationFrame(step);
  }

  /** Scrolls by pixels. */
  panBy(pixels) {
    this.panTo((this.#from + this.#to) / 2 + (pixels / this.#width) * (this.#to - this.#from));
  }

  /** Centres a time without animation. */
  panTo(centre) {
    cancelAnimationFrame(this.#motion);
    const { first, last } = this.#extent ?? { first: null };
    if (first === null) return;
    const span = this.#to - this.#from;
    const from = Math.min(last - span * 0.2, Math.max(first - span * 0.8, centre - span / 2));
    this.#from = from;
    this.#to = from + span;
    this.#draw();
    this.#loadSoon();
  }

  #loadSoon = settled(70, () => this.#load());

  // Loads almost a view's width more on both sides, so that scrolling shows bars immediately.
  async #load() {
    if (!this.dataSource || !this.#extent || this.#extent.first === null || !this.#width) return this.#draw();
    const span = this.#to - this.#from;
    const width = barWidth(span, Math.min(130, Math.max(24, Math.floor(this.#width / 7))));
    const from = alignedDown(this.#from - span * 0.9, width);
    const count = Math.min(400, Math.ceil((this.#to + span * 0.9 - from) / width));
    this.#request?.abort();
    this.#request = new AbortController();
    try {
      this.#contents = await this.dataSource.contents(from, from + count * width, width, this.#request.signal);
    } catch (error) {
      if (error.name !== "AbortError") this.dispatchEvent(new CustomEvent("failure", { detail: error }));
    }
    this.#draw();
  }

  async #loadOverview() {
    const { first, last } = this.#extent;
    if (first === null) return;
    const width = Math.max(second, Math.ceil((last + 1 - first) / 200));
    this.#overview = await this.dataSource.contents(first, first + 200 * width, width).catch(() => this.#overview);
    this.#draw();
  }

  #resize() {
    const width = this.scroller.clientWidth;
    if (!width || width === this.#width) return;
    this.#width = width;
    this.#loadSoon();
    this.#draw();
  }

  #draw() {
    if (!this.#width) return;
    const view = { from: this.#from, to: this.#to, width: this.#width };
    this.scroller.replaceChildren(drawTimeline(view, this.#contents, this.marks, this.versions));
    this.strip.replaceChildren(drawOverview(view, this.#extent, this.#overview, this.marks, this.versions));
    this.span.textContent = this.#extent?.first == null ? "" : range(this.#from, this.#to);
    if (this.#extent?.first != null) {
      this.scroller.setAttribute("aria-valuemin", String(this.#extent.first));
      this.scroller.setAttribute("aria-valuemax", String(this.#extent.last));
    }
    const span = this.#to - this.#from;
    const step = zooms.findIndex((zoom) => Math.abs(span / zoom.span - 1) < 0.02) + 1;
    const isAll = !step && this.#extent && this.#from <= this.#extent.first && this.#to >= this.#extent.last;
    this.zoomButtons.forEach((each, index) => each.setAttribute("aria-pressed", String(index ? index === step : isAll === true)));
  }

  get contents() {
    return this.#contents;
  }

  get extent() {
    return this.#extent;
  }

  timeAt(event) {
    const x = event.clientX - this.scroller.getBoundingClientRect().left;
    return this.#from + (x / this.#width) * (this.#to - this.#from);
  }

  xOf(time) {
    return ((time - this.#from) / (this.#to - this.#from)) * this.#width;
  }

  bucketAt(time) {
    return this.#contents?.buckets.find((each) => time >= each.start && time < each.start + this.#contents.width);
  }
}

customElements.define("archiver-timeline", ArchiverTimeline);
