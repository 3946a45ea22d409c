// The lines of a diff: numbered, with changed words marked. Removed lines are <del> and added ones <ins>, so that they
// differ by more than colour.

import { element } from "./elements.js";
import { escapedLine } from "./names.js";
import { wordDifference } from "./wording.js";

/** Flattens hunks into a list of {sign, text, left?, right?, runs?}; the sign "@" stands for skipped lines. */
export function diffRows(hunks) {
  const rows = [];
  let end = 0;
  for (const hunk of hunks) {
    const skipped = hunk.left.start - 1 - end;
    if (skipped > 0) rows.push({ sign: "@", text: `${skipped} unchanged ${skipped === 1 ? "line" : "lines"}` });
    let left = hunk.left.start;
    let right = hunk.right.start;
    const first = rows.length;
    for (const [sign, text] of hunk.lines) {
      rows.push({ sign, text, left: sign === "+" ? null : left++, right: sign === "-" ? null : right++ });
    }
    end = Math.max(end, left - 1);
    markWords(rows, first);
  }
  return rows;
}

// Removed lines followed by as many added ones count as the same lines, changed.
function markWords(rows, first) {
  for (let index = first; index < rows.length;) {
    if (rows[index].sign !== "-") {
      index += 1;
      continue;
    }
    let middle = index;
    while (rows[middle]?.sign === "-") middle += 1;
    let end = middle;
    while (rows[end]?.sign === "+") end += 1;
    for (let step = 0; index + step < middle && middle + step < end && middle - index === end - middle; step += 1) {
      const runs = wordDifference(rows[index + step].text, rows[middle + step].text);
      if (runs) {
        rows[index + step].runs = runs.left;
        rows[middle + step].runs = runs.right;
      }
    }
    index = end;
  }
}

const tags = { "-": "del", "+": "ins", " ": "div", "@": "div" };
const names = { "-": "line removed", "+": "line added", " ": "line", "@": "line skipped" };

function textNodes(row) {
  if (!row.runs) return [escapedLine(row.text) || "\u200b"];
  return row.runs.map((run) => (run.isMarked ? element("mark", { text: escapedLine(run.text) }) : escapedLine(run.text)));
}

export const unifiedLine = (row) => element(tags[row.sign], {
  class: names[row.sign], "data-left": row.left ?? "", "data-right": row.right ?? "",
}, ...textNodes(row));

/** Returns rows of two cells; removed and added lines of one change are side by side. */
export function sideRows(rows) {
  const found = [];
  const cell = (row, side) => (row
    ? element(tags[row.sign], { class: names[row.sign], "data-n": row[side] ?? "" }, ...textNodes(row))
    : element("div", { class: "line absent" }));
  for (let index = 0; index < rows.length;) {
    const row = rows[index];
    if (row.sign === "@") {
      found.push(element("div", { class: "pair whole" }, unifiedLine(row)));
      index += 1;
    } else if (row.sign === " ") {
      found.push(element("div", { class: "pair" }, cell(row, "left"), cell(row, "right")));
      index += 1;
    } else {
      const left = [];
      const right = [];
      while (rows[index]?.sign === "-") left.push(rows[index++]);
      while (rows[index]?.sign === "+") right.push(rows[index++]);
      for (let step = 0; step < Math.max(left.length, right.length); step += 1) {
        found.push(element("div", { class: "pair" }, cell(left[step], "left"), cell(right[step], "right")));
      }
    }
  }
  return found;
}
