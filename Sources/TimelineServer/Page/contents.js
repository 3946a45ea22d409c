// The contents of files, cached by content id: what was shown once can be shown again without the server.

import { ApiError, OfflineError } from "./api.js";
import { Memory } from "./memory.js";
import { pathQuery } from "./names.js";

export const textLimit = 1 << 20;
// Twice the height in a row of a list, for high-resolution screens.
const smallHeight = 44;

const types = {
  png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", avif: "image/avif",
  bmp: "image/bmp", ico: "image/x-icon", svg: "image/svg+xml",
  mp3: "audio", wav: "audio", ogg: "audio", oga: "audio", flac: "audio", m4a: "audio", opus: "audio",
  mp4: "video", webm: "video", mov: "video", m4v: "video", ogv: "video", mkv: "video",
};

const fullType = (path) => types[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? "other";

export const typeOf = (path) => fullType(path).split("/")[0];

export class Contents {
  #api;
  #ids = new Memory(4 << 20);
  #kept = new Memory(64 << 20, forget);

  constructor(api) {
    this.#api = api;
  }

  /** The beginning of a file: {id, size, bytes, isWhole}; null if the snapshot has no such file. */
  beginning(snapshot, item, signal) {
    return this.#load("begin", snapshot, item, { Range: `bytes=0-${textLimit - 1}` }, signal, async (response) => {
      const bytes = new Uint8Array(await response.arrayBuffer());
      const range = response.headers.get("Content-Range");
      const size = range ? Number(range.split("/")[1]) : bytes.length;
      return { size, bytes, isWhole: size === bytes.length, length: bytes.length };
    });
  }

  /** The bytes of a file from `start`, as many as of its beginning: {id, bytes}. */
  piece(snapshot, item, start, signal) {
    const headers = { Range: `bytes=${start}-${start + textLimit - 1}` };
    return this.#load(`piece ${start}`, snapshot, item, headers, signal, async (response) => {
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { bytes, length: bytes.length };
    });
  }

  /** An image for `<img>`: {id, url, size}. Scripts in an SVG do not run there. */
  image(snapshot, item, signal) {
    return this.#load("image", snapshot, item, {}, signal, async (response) => {
      const blob = await imageOf(response, item);
      return { url: URL.createObjectURL(blob), size: blob.size, length: blob.size };
    });
  }

  /** A small picture of an image: {id, bitmap}; bitmap is null if the browser cannot make one. */
  small(snapshot, item) {
    return this.#load("small", snapshot, item, {}, undefined, async (response) => {
      const bitmap = await smallBitmap(await imageOf(response, item)).catch(() => null);
      return { bitmap, length: bitmap ? 4 * bitmap.width * bitmap.height : 0 };
    });
  }

  /** The small picture if it is cached. */
  knownSmall(snapshot, item) {
    const id = item.content ?? this.#ids.get(this.#api.url(`content/${snapshot}`, pathQuery(item)));
    return id ? this.#kept.get(`small ${id}`) : undefined;
  }

  mediaURL(snapshot, item) {
    return this.#api.url(`content/${snapshot}`, pathQuery(item), true);
  }

  downloadURL(snapshot, item) {
    return this.#api.url(`content/${snapshot}`, { ...pathQuery(item), download: 1 }, true);
  }

  async #load(form, snapshot, item, headers, signal, read) {
    const query = this.#api.url(`content/${snapshot}`, pathQuery(item));
    const id = this.#ids.get(query) ?? null;
    const kept = id && this.#kept.get(`${form} ${id}`);
    if (kept) return kept;
    try {
      const response = await this.#api.request(query, { headers, signal });
      const id = (response.headers.get("ETag") ?? query).replace(/^W\/|"/g, "");
      this.#ids.set(query, id, 2 * (query.length + id.length));
      const known = this.#kept.get(`${form} ${id}`);
      if (known) return known;
      const value = { id, ...(await read(response)) };
      this.#kept.set(`${form} ${id}`, value, value.length + 200);
      return value;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      if (error instanceof ApiError && error.status === 416) return { id: "", size: 0, bytes: new Uint8Array(), isWhole: true };
      // The tree's answer may already have the content's id.
      const other = error instanceof OfflineError && item.content && this.#kept.get(`${form} ${item.content}`);
      if (other) return other;
      throw error;
    }
  }
}

async function imageOf(response, item) {
  return new Blob([await response.arrayBuffer()], { type: fullType(item.path) });
}

async function smallBitmap(image) {
  const options = { resizeHeight: smallHeight, resizeQuality: "medium" };
  if (image.type !== "image/svg+xml") return createImageBitmap(image, options);
  // Browsers cannot make a bitmap of an SVG blob, but of an image element that shows it. Scripts do not run there
  // either.
  const drawing = new Image();
  drawing.src = URL.createObjectURL(image);
  try {
    await drawing.decode();
    return await createImageBitmap(drawing, options);
  } finally {
    URL.revokeObjectURL(drawing.src);
  }
}

function forget(kept) {
  if (kept.url) URL.revokeObjectURL(kept.url);
  kept.bitmap?.close();
}
