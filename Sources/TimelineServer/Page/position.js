// The position: a root, two of its moments, a path, and the view of it. The whole page follows its changes.

import { samePlace } from "./names.js";

/** The directory as it is on disk now: a moment to compare with, also where nothing watches. */
export const disk = { id: "disk", short: "disk", time: Infinity };

export class Position extends EventTarget {
  root = null;
  /** The moment that is shown, and whether it follows the latest snapshot. */
  b = null;
  isFollowing = true;
  /** The moment to compare with; null for the parent of B. */
  pinnedA = null;
  /** The selected entry: {path, pathBytes?, kind, change?, content?, size?}; null for the whole root. */
  item = null;
  view = "preview";
  /** A search result that the preview scrolls to: {line, words}. */
  find = null;

  get aID() {
    return this.pinnedA?.id ?? this.b?.parent ?? "none";
  }

  /** Whether A is later than B: then B is what is "then" in a comparison. */
  get isAheadOfB() {
    return this.pinnedA !== null && this.b !== null && this.pinnedA.time > this.b.time;
  }

  /** The ids of the two moments in the order of their times; the older one may be "none", the newer one "disk". */
  get sides() {
    return this.isAheadOfB ? { older: this.b.id, newer: this.aID } : { older: this.aID, newer: this.b?.id };
  }

  /** The snapshot that holds the path: B, or the other one if B does not have it. */
  get holder() {
    const { older, newer } = this.sides;
    if (this.item?.change === "removed" && older !== "none") return older;
    if (this.item?.change === "added" && newer !== "disk") return newer;
    return this.b?.id;
  }

  go(changes) {
    const changed = new Set();
    const before = this.item;
    for (const [name, value] of Object.entries(changes)) {
      if (this[name] === value) continue;
      this[name] = value;
      changed.add(name);
    }
    const isMoved = changed.has("b") || changed.has("pinnedA");
    // Facts about the path at another moment no longer apply; the tree supplies new ones.
    if (isMoved && this.item && !changed.has("item")) {
      const { path, pathBytes, kind, target } = this.item;
      this.item = { path, pathBytes, kind, target };
      changed.add("item");
    }
    // The searched words belong to the place where they were found.
    const isElsewhere = changed.has("b") || !samePlace(this.item, before);
    if (this.find && !changed.has("find") && isElsewhere) this.find = null;
    if (changed.size) this.dispatchEvent(new CustomEvent("change", { detail: changed }));
  }
}

export const shortOf = (id) => (id === "none" ? "none" : id.slice(0, 8));
