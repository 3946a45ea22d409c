// The position: a root, two of its moments, a path, and the view of it. The whole page follows its changes.

import { samePlace } from "./names.js";

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
  /** A line of a search result that the preview scrolls to. */
  find = null;

  get aID() {
    return this.pinnedA?.id ?? this.b?.parent ?? "none";
  }

  /** The snapshot that holds the path: B, or A if the path was removed in B. */
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
