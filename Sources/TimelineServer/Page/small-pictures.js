// Small pictures of images beside their names in lists. They are made when a row stays in view, one after the other, and
// kept by content.

import { typeOf } from "./contents.js";
import { element } from "./elements.js";

// A larger file is not fetched for that.
const limit = 8 << 20;
// Rows that are scrolled past are gone by then, in milliseconds.
const patience = 120;

export class SmallPictures {
  #contents;
  #last = Promise.resolve();

  constructor(contents) {
    this.#contents = contents;
  }

  /** What stands in the row of `item`; nothing for what is no image. */
  of(snapshot, item) {
    if (item.kind !== "file" || item.size > limit || typeOf(item.path) !== "image") return "";
    const canvas = element("canvas", { class: "small", width: 0, height: 0, "aria-hidden": "true" });
    const known = this.#contents.knownSmall(snapshot, item);
    if (known) draw(canvas, known);
    else setTimeout(() => this.#make(canvas, snapshot, item), patience);
    return canvas;
  }

  #make(canvas, snapshot, item) {
    this.#last = this.#last.then(async () => {
      if (canvas.isConnected) draw(canvas, await this.#contents.small(snapshot, item));
    }).catch(() => {});
  }
}

function draw(canvas, picture) {
  if (!picture?.bitmap) return;
  [canvas.width, canvas.height] = [picture.bitmap.width, picture.bitmap.height];
  canvas.getContext("2d").drawImage(picture.bitmap, 0, 0);
}
