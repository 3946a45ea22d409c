// A cache of fetched values, limited in bytes; the least recently used value is evicted first.

export class Memory {
  #limit;
  #used = 0;
  #entries = new Map();
  #forget;

  /** `forget` is called with each evicted value, to release its resources. */
  constructor(limitBytes, forget = () => {}) {
    this.#limit = limitBytes;
    this.#forget = forget;
  }

  get(key) {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key, value, bytes) {
    this.delete(key);
    if (bytes > this.#limit) return;
    this.#entries.set(key, { value, bytes });
    this.#used += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#used <= this.#limit) break;
      this.delete(oldest);
    }
  }

  delete(key) {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#used -= entry.bytes;
    this.#forget(entry.value);
  }
}
