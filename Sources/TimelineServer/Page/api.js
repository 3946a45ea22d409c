// Requests to the server. Answers about snapshots never change and are cached; others are requested again, and the last
// answer is used while the server is unreachable.

import { byId, pause } from "./elements.js";
import { Memory } from "./memory.js";

const base = "/api/1/";
const sessionKey = "archiver-session";
/** After this many milliseconds without an answer, a sign says so. */
const waitingTime = 300;

/** The tabs of this server, which only its own pages can hear. */
const tabs = new BroadcastChannel("archiver-session");
/** How long other tabs may take to answer, in milliseconds. */
const patience = 400;

/** Returns the session of another tab, so that a second tab and a bookmark open; null if there is none. */
function borrowed() {
  return new Promise((resolve) => {
    const hear = ({ data }) => data?.session && end(data.session);
    const end = (session) => {
      clearTimeout(timer);
      tabs.removeEventListener("message", hear);
      resolve(session);
    };
    const timer = setTimeout(() => end(null), patience);
    tabs.addEventListener("message", hear);
    tabs.postMessage("session?");
  });
}

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? `The server answered ${status}.`);
    this.status = status;
    this.body = body ?? {};
    this.remedy = body?.error?.remedy ?? null;
  }
}

/** The request did not reach the server, and no answer is cached. */
export class OfflineError extends Error {
  constructor() {
    super("The server does not answer, and this was not shown before.");
    this.remedy = "The page retries automatically. If the server has ended, run archiver browse again.";
  }
}

export class Api extends EventTarget {
  isOffline = false;
  isExpired = false;
  #session;
  #answers = new Memory(32 << 20);

  constructor(session) {
    super();
    this.#session = session;
    tabs.addEventListener("message", ({ data }) => {
      if (data === "session?" && !this.isExpired) tabs.postMessage({ session: JSON.stringify(this.#session) });
    });
  }

  get isReadOnly() {
    return this.#session.isReadOnly;
  }

  /** Why nothing can be changed through this page. */
  get readOnlyText() {
    return this.#session.readOnlyReason ?? "This page is read-only.";
  }

  get details() {
    return this.#session;
  }

  /** Exchanges the one-time token, or continues this tab's session; null if there is neither. */
  static async open(token) {
    if (token) {
      const response = await fetch(base + "session", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }),
      });
      const body = await response.json().catch(() => null);
      if (!response.ok) throw new ApiError(response.status, body);
      sessionStorage.setItem(sessionKey, JSON.stringify(body));
      return new Api(body);
    }
    const kept = sessionStorage.getItem(sessionKey) ?? await borrowed();
    if (!kept) return null;
    sessionStorage.setItem(sessionKey, kept);
    return new Api(JSON.parse(kept));
  }

  url(name, query = {}, hasTicket = false) {
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      if (value !== null && value !== undefined) search.set(key, value);
    }
    if (hasTicket) search.set("ticket", this.#session.ticket);
    const text = search.toString();
    return base + name + (text ? "?" + text : "");
  }

  /** `isFixed`: the answer concerns only snapshots, so it never changes. */
  async get(name, query = {}, { isFixed = false, signal } = {}) {
    const url = this.url(name, query);
    const remembered = this.#answers.get(url);
    if (remembered && isFixed) return JSON.parse(remembered);
    try {
      const response = await this.request(url, { signal });
      const text = await response.text();
      this.#answers.set(url, text, 2 * text.length);
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof OfflineError && remembered) return JSON.parse(remembered);
      throw error;
    }
  }

  async post(name, body) {
    const response = await this.request(this.url(name), {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    return response.json();
  }

  /** Calls `hear` with each line of a streamed answer as it arrives. */
  async lines(name, query, hear, signal) {
    const response = await this.request(this.url(name, query), { signal, isQuiet: true });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const part of parts) if (part.trim()) hear(JSON.parse(part));
    }
    if (rest.trim()) hear(JSON.parse(rest));
  }

  /** `isQuiet`: the page does not wait for the answer. */
  async request(url, { isQuiet = false, ...options } = {}) {
    const answer = this.#request(url, options);
    if (!isQuiet) waiting(answer);
    return answer;
  }

  async #request(url, options) {
    let response;
    try {
      response = await fetch(url, {
        ...options, headers: { ...options.headers, "X-Archiver-Session": this.#session.session },
      });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      this.#setOffline(true);
      throw new OfflineError();
    }
    this.#setOffline(false);
    if (response.ok) return response;
    const body = await response.json().catch(() => null);
    if (response.status === 401) {
      sessionStorage.removeItem(sessionKey);
      this.isExpired = true;
      this.dispatchEvent(new CustomEvent("expired"));
    }
    throw new ApiError(response.status, body);
  }

  #setOffline(isOffline) {
    if (this.isOffline === isOffline) return;
    this.isOffline = isOffline;
    this.dispatchEvent(new CustomEvent(isOffline ? "offline" : "online"));
    if (isOffline) this.#tryAgain();
  }

  async #tryAgain() {
    for (let wait = 1000; this.isOffline; wait = Math.min(wait * 1.5, 10_000)) {
      await pause(wait);
      await this.request(this.url("roots"), { isQuiet: true }).catch(() => {});
    }
  }
}

let slow = 0;

/** Shows the sign of waiting while an answer takes longer than a glance. */
function waiting(answer) {
  let isSlow = false;
  const count = (step) => byId("waiting").hidden = (slow += step) === 0;
  const timer = setTimeout(() => count(isSlow = 1), waitingTime);
  const end = () => {
    clearTimeout(timer);
    if (isSlow) count(-1);
  };
  answer.then(end, end);
}

export const isAborted = (error) => error?.name === "AbortError";
