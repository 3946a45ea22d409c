// The help: how to use the page, what the marks mean, and the keys.

import { element } from "./elements.js";
import { openDialog } from "./dialogs.js";
import { keysOf, treeKeys } from "./keys.js";

const paragraphs = [
  "The bars show when files changed. Click a bar, or use the arrow keys, to choose the moment that is shown, B. The files below are those of that moment.",
  "It is compared with another moment, A: the snapshot before, until you keep another one (press a, or hold Shift and click), or the files on disk now (press n).",
  "Select a file: the diamonds on the timeline are its versions, and ← and → step through them. Diff shows what changed between the two, the older moment first.",
  "Search finds names and lines of all versions, deleted ones too, the newest first. A result opens the last moment that has it.",
  "Restore shows a plan first. Apply carries it out. Undo reverses it. In a diff, single paragraphs can be put back into the file on disk. Copy writes an old version under another name.",
];

export function openHelp(page) {
  const rows = [...keysOf(page).map(([shown, , words]) => [shown, words]), ...treeKeys];
  const list = (pairs) => element("dl", { class: "keys" }, ...pairs.flatMap(([shown, words]) =>
    [element("dt", {}, element("kbd", { text: shown })), element("dd", { text: words })]));
  openDialog("help-dialog", "Help", [
    ...paragraphs.map((text) => element("p", { text })),
    element("h3", { text: "Marks" }),
    list([["◆", "a label"], ["↶", "a restore or an undo"], ["▨", "a gap: not watched, changes may have been captured late"],
      ["+ ~ −", "added, changed, removed"]]),
    element("h3", { text: "Keys" }), list(rows.slice(0, -treeKeys.length)),
    element("h3", { text: "Keys in the tree" }), list(treeKeys),
  ]);
}
