// The help: how to use the page, what the marks mean, and the keys.

import { element } from "./elements.js";
import { openDialog } from "./dialogs.js";
import { keysOf, treeKeys } from "./keys.js";

const paragraphs = [
  "The bars show when files changed. Click a bar, or use the arrow keys, to choose the moment B. Everything below shows the directory as it was at B.",
  "A is the moment that B is compared with: B's parent (the snapshot before), until you keep another moment: press a, or hold Shift and click.",
  "Select a file: the diamonds on the timeline are its versions, and ← and → step through them. Diff shows what each version changed.",
  "Search finds names and lines of all versions, deleted ones too. A result opens the last moment that has it.",
  "Restore shows a plan first. Apply carries it out. Undo reverses it.",
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
