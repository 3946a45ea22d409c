// Events while the page is open. One tab reads the server's stream and forwards it to the others, as a browser allows
// few connections to one host. When that tab closes, another one continues after the last event it received.
//
// What happens between the reading of a page's data and the beginning of a stream is in neither: each stream begins with
// the state of the archive ("begun"), for the page to read its data again if that is another one.

import { pause } from "./elements.js";

const lockName = "archiver-events";
const silence = 40_000;

export class Live extends EventTarget {
  #api;
  #lastID = null;
  #channel = new BroadcastChannel("archiver-events");

  constructor(api) {
    super();
    this.#api = api;
    this.#channel.addEventListener("message", ({ data }) => this.#hear(data));
    // Without locks (in an insecure context) each tab has its own stream.
    if (navigator.locks) navigator.locks.request(lockName, () => this.#lead());
    else this.#lead();
  }

  #hear({ name, data, id }) {
    if (id) this.#lastID = id;
    this.dispatchEvent(new CustomEvent(name, { detail: data }));
  }

  async #lead() {
    for (let wait = 500; ; wait = Math.min(wait * 2, 10_000)) {
      const began = Date.now();
      await this.#stream().catch(() => {});
      if (Date.now() - began > silence) wait = 500;
      await pause(wait);
    }
  }

  async #stream() {
    const stop = new AbortController();
    let timer = 0;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), silence);
    };
    alive();
    try {
      const headers = { Accept: "text/event-stream", ...(this.#lastID ? { "Last-Event-ID": this.#lastID } : {}) };
      const response = await this.#api.request(this.#api.url("events"), { headers, signal: stop.signal, isQuiet: true });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        alive();
        const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) this.#parse(block);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #parse(block) {
    const event = { name: "message", data: "", id: null };
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const value = line.slice(colon + 1).replace(/^ /, "");
      const field = line.slice(0, colon);
      if (field === "event") event.name = value;
      if (field === "data") event.data += value;
      if (field === "id") event.id = value;
    }
    if (!event.data) return;
    const heard = { ...event, data: JSON.parse(event.data) };
    this.#hear(heard);
    this.#channel.postMessage(heard);
  }
}
