// What is looked at: a root, two moments of it, a path, and how the path is shown. Everything on the page follows this.

import { samePlace } from "./names.js";

export class Position extends EventTarget {
  root = null;
  /** The moment that is shown, and whether it is to stay the latest one. */
  b = null;
  isFollowing = true;
  /** The moment to compare with; null: the parent of B. */
  pinnedA = null;
  /** {path, pathBytes?, kind, change?, content?, size?}, or null for the whole root. */
  item = null;
  view = "preview";
  /** Words that the preview scrolls to, after a search. */
  find = null;

  get aID() {
    return this.pinnedA?.id ?? this.b?.parent ?? "none";
  }

  /** The snapshot that holds the path: for one that B removed, the one compared with. */
  get holder() {
    const isGone = this.item?.change === "removed" && this.aID !== "none";
    return isGone ? this.aID : this.b?.id;
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
    // What was known of the path at another moment is not true of this one; the tree tells it again.
    if (isMoved && this.item && !changed.has("item")) {
      const { path, pathBytes, kind, target } = this.item;
      this.item = { path, pathBytes, kind, target };
      changed.add("item");
    }
    // Words that were looked for belong to the place they were found at.
    const isElsewhere = changed.has("b") || !samePlace(this.item, before);
    if (this.find && !changed.has("find") && isElsewhere) this.find = null;
    if (changed.size) this.dispatchEvent(new CustomEvent("change", { detail: changed }));
  }
}

export const shortOf = (id) => (id === "none" ? "none" : id.slice(0, 8));
