// Neighbouring moments: by snapshot, by version of the selected entry, by session and by day.

import { endOfDay, startOfDay } from "./dates.js";
import { pathQuery, samePlace } from "./names.js";

const chunk = 60;
/** The most versions that the server lists. */
const mostVersions = 100_000;

/**
 * Returns the next version that differs from the one at a moment, or null. `list` has the newest first. A version of
 * which only permissions or times changed has the same content as the one before it.
 */
export function neighbour(list, from, step) {
  let index = list.findIndex((version) => version.snapshot.time <= from.time);
  if (index < 0) index = list.length;
  if (step > 0) index -= 1;
  while (list[index]?.change === "metadata") index -= step;
  return list[step < 0 ? index + 1 : index] ?? null;
}

export class Walk {
  #api;
  #source;
  #near = [];
  #versions = { item: null, list: [], limit: 0, hasMore: false };

  constructor(api, source) {
    this.#api = api;
    this.#source = source;
  }

  get #root() {
    return this.#source.root;
  }

  async #snapshots(query) {
    const answer = await this.#api.get("snapshots", { root: this.#root, ...query });
    return answer.snapshots;
  }

  latest() {
    return this.#snapshots({ limit: 1 }).then((found) => found[0] ?? null);
  }

  at(time) {
    return this.#snapshots({ at: Math.round(time) }).then((found) => found[0] ?? null);
  }

  async withID(prefix) {
    const answer = await this.#api.get("snapshots", { id: prefix });
    return answer.snapshots[0] ?? null;
  }

  async first() {
    return this.at(0);
  }

  /** Returns the neighbour of `from`; null at the end. A run of neighbours is cached, for held keys. */
  async snapshot(from, step) {
    let place = this.#near.findIndex((each) => each.id === from.id);
    if (place < 0 || !this.#near[place + step]) {
      const found = await this.#snapshots({ [step < 0 ? "before" : "after"]: from.id, limit: chunk });
      this.#near = step < 0 ? [...found, from] : [from, ...found];
      place = step < 0 ? found.length : 0;
    }
    return this.#near[place + step] ?? null;
  }

  /** Returns the versions of a path, newest first: at least `count`, if there are so many. */
  async versions(item, count = 200, signal) {
    const known = this.#versions;
    if (samePlace(known.item, item) && (known.limit >= count || (known.list.length && !known.hasMore))) return known;
    const answer = await this.#api.get("log", { root: this.#root, ...pathQuery(item), limit: count }, { signal });
    this.#versions = { item, list: answer.versions, limit: count, hasMore: answer.hasMore };
    return this.#versions;
  }

  /** Clears the cache, after a capture or a label. */
  forget() {
    this.#near = [];
    this.#versions = { item: null, list: [], limit: 0, hasMore: false };
  }

  /** Returns the versions of a path, newest first, at least back to a moment and the different version before it. */
  async versionsBackTo(item, from, signal) {
    for (let count = 200; ; count *= 5) {
      const known = await this.versions(item, Math.min(count, mostVersions), signal);
      const reaches = known.list.at(-1)?.snapshot.time <= from.time && neighbour(known.list, from, -1) !== null;
      if (reaches || !known.hasMore || count >= mostVersions) return known;
    }
  }

  /** Returns the snapshot of the neighbouring version of `item` that differs from the one at `from`, or null. */
  async version(item, from, step) {
    const { list } = await this.versionsBackTo(item, from);
    return neighbour(list, from, step)?.snapshot ?? null;
  }

  /** Returns the version at `from`: the one that last changed it. */
  async versionAt(item, from) {
    const { list } = await this.versionsBackTo(item, from);
    return list.find((version) => version.snapshot.time <= from.time) ?? null;
  }

  /** Returns the sessions of the span of some versions, newest first. */
  sessionsOf(list) {
    return this.#source.sessions({ from: list.at(-1).snapshot.time, to: list[0].snapshot.time, limit: 500 });
  }

  async session(from, step) {
    // The first session may be the one that contains `from`.
    const sessions = await this.#source.sessions(
      step < 0 ? { to: from.time, limit: 2 } : { from: from.time, order: "oldest", limit: 2 });
    const found = sessions.find((session) =>
      session.last.id !== from.id && (step < 0 ? session.end < from.time : session.end > from.time));
    return found?.last ?? null;
  }

  async day(from, step) {
    if (step < 0) {
      const found = await this.at(startOfDay(from.time) - 1);
      return found && found.time < from.time ? found : this.first();
    }
    const last = await this.at(endOfDay(from.time) - 1);
    const next = last && (await this.snapshot(last, 1));
    return next ? this.at(endOfDay(next.time) - 1) : last;
  }
}
