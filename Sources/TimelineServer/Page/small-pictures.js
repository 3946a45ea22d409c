// Small pictures of images beside their names in lists. They are made one after the other when a row stays in view, and
// cached by content.

import { typeOf } from "./contents.js";
import { element } from "./elements.js";

// Larger files are not fetched.
const limit = 8 << 20;
// Milliseconds to wait, so that rows scrolled past are skipped.
const patience = 120;

export class SmallPictures {
  #contents;
  #last = Promise.resolve();

  constructor(contents) {
    this.#contents = contents;
  }

  /** Returns the picture for the row of `item`; nothing if it is not an image. */
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
