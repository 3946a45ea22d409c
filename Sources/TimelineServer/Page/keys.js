// The keys. Everything on the page can be done with them and Tab.

import { byId } from "./elements.js";
import { openGoTo } from "./moments-bar.js";

/** [shown, keys, words, run]; "Shift+" is part of a key's name where it matters. */
export const keysOf = (page) => [
  ["←", ["ArrowLeft"], "earlier: a version of the selected entry, else a snapshot", () => page.step("moment", -1)],
  ["→", ["ArrowRight"], "later", () => page.step("moment", 1)],
  ["Shift + ←", ["Shift+ArrowLeft"], "the previous session", () => page.step("session", -1)],
  ["Shift + →", ["Shift+ArrowRight"], "the next session", () => page.step("session", 1)],
  ["Page Up", ["PageUp"], "a day earlier", () => page.step("day", -1)],
  ["Page Down", ["PageDown"], "a day later", () => page.step("day", 1)],
  ["Home", ["Home"], "the first snapshot", () => page.step("end", -1)],
  ["End", ["End"], "the latest snapshot", () => page.step("end", 1)],
  ["g", ["g"], "go to a date and time", () => openGoTo(page)],
  ["[", ["["], "the previous version of the selected entry", () => page.step("version", -1)],
  ["]", ["]"], "the next version", () => page.step("version", 1)],
  ["a", ["a"], "compare from here: A stays at this moment; again for the snapshot before", () => page.togglePin()],
  ["n", ["n"], "compare with the files on disk now; again to end that", () => page.toggleDisk()],
  ["p", ["p"], "preview", () => page.show("preview")],
  ["d", ["d"], "diff: what changed between the two moments", () => page.show("diff")],
  ["h", ["h"], "history", () => page.show("history")],
  ["b", ["b"], "blame", () => page.show("blame")],
  ["f", ["f"], "to the files", () => page.tree.focus()],
  ["r", ["r"], "restore: shows the plan first; of two compared moments, the older one", () => page.restore.plan()],
  ["c", ["c"], "copy as it was, under another name", () => page.restore.copy()],
  ["u", ["u"], "undo the last restore", () => page.operations.undo()],
  ["l", ["l"], "label this moment", () => page.openLabel()],
  ["+", ["+", "="], "zoom in", () => page.timeline.zoomBy(1 / 3)],
  ["−", ["-"], "zoom out", () => page.timeline.zoomBy(3)],
  ["/", ["/"], "search", () => page.search.focus()],
  ["?", ["?"], "help", () => page.openHelp()],
  ["Esc", ["Escape"], "close, stop a search, or clear the selection", () => page.escape()],
];

export const treeKeys = [
  ["↑ ↓", "the file above or below"],
  ["Enter", "open or close a directory"],
  ["Space", "choose for a restore"],
];

export function listenForKeys(page) {
  const keys = new Map();
  for (const [, names, , run] of keysOf(page)) for (const name of names) keys.set(name, run);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (target instanceof HTMLElement && target.closest("input, textarea, select, audio, video")) return;
    // Scrollable text keeps the keys that scroll it.
    const isReading = target instanceof HTMLElement && target.closest("[role=tabpanel]") !== null;
    if (isReading && ["PageUp", "PageDown", "Home", "End"].includes(event.key)) return;
    const isNamed = event.key.length > 1;
    const run = keys.get(isNamed && event.shiftKey ? `Shift+${event.key}` : event.key);
    if (!run) return;
    event.preventDefault();
    run();
  });
  byId("search").setAttribute("aria-keyshortcuts", "/");
  byId("restore").setAttribute("aria-keyshortcuts", "r");
  byId("undo").setAttribute("aria-keyshortcuts", "u");
}
