// The fragment of the page's URL: the one-time token on arrival, and afterwards the position, so that it can be
// bookmarked.

import { settled } from "./elements.js";

const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/** Removes the token from the URL before anything else can read it, and returns it. */
export function takeToken() {
  const { token, ...rest } = read();
  if (token) history.replaceState(null, "", fragment(rest));
  return token ?? null;
}

const fragment = (fields) => {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined && value !== "") search.set(key, value);
  }
  const text = search.toString();
  return text ? "#" + text : location.pathname;
};

export class Address extends EventTarget {
  #written = location.hash;
  #place = "";

  constructor() {
    super();
    addEventListener("hashchange", () => {
      if (location.hash === this.#written) return;
      this.#written = location.hash;
      this.dispatchEvent(new CustomEvent("change", { detail: read() }));
    });
  }

  get fields() {
    return read();
  }

  /** Writes the position. A new path or view adds a step to the browser's history; a new moment does not. */
  write = settled(200, (fields) => {
    const text = fragment(fields);
    if (text === location.hash) return;
    const place = [fields.root, fields.path, fields.pathBytes, fields.view].join("\n");
    const isStep = this.#place !== "" && place !== this.#place;
    this.#place = place;
    history[isStep ? "pushState" : "replaceState"](null, "", text);
    this.#written = location.hash;
  });
}
