// The lines of a diff: numbered, with changed words marked. Removed lines are <del> and added ones <ins>, so that they
// differ by more than colour.

import { element } from "./elements.js";
import { letterStart, lineNodes, rowLetters } from "./text.js";
import { wordDifference } from "./wording.js";

/** The letters of a long changed line that are shown before and after those that differ. */
const contextLetters = 200;

/**
 * Flattens hunks into a list of {sign, text, left?, right?, runs?}. A row with the sign "@" begins a hunk, and says how
 * many lines are skipped before it.
 */
export function diffRows(hunks) {
  const rows = [];
  let end = 0;
  const hasReturns = hasOnlyReturns(hunks);
  const cut = (text) => (hasReturns ? text.slice(0, -1) : text);
  for (const [index, hunk] of hunks.entries()) {
    const skipped = Math.max(0, hunk.left.start - 1 - end);
    rows.push({
      sign: "@", text: skipped ? `${skipped} unchanged ${skipped === 1 ? "line" : "lines"}` : "",
      hunk: index, isRemoval: hunk.lines.some(([sign]) => sign === "-"),
    });
    let left = hunk.left.start;
    let right = hunk.right.start;
    const first = rows.length;
    for (const [sign, text] of hunk.lines) {
      rows.push({ sign, text: cut(text), left: sign === "+" ? null : left++, right: sign === "-" ? null : right++ });
    }
    end = Math.max(end, left - 1);
    markWords(rows, first);
  }
  return rows;
}

/** Whether all lines end with CRLF, so that their returns are not worth showing. */
export const hasOnlyReturns = (hunks) => hunks.length > 0 && hunks.every((hunk) => hunk.lines.every(([, text]) => text.endsWith("\r")));

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
        rows[index + step].runs = shortRuns(runs.left);
        rows[middle + step].runs = shortRuns(runs.right);
      }
    }
    index = end;
  }
}

/** Skips what is far from the differences of a long line, as a diff skips lines. */
function shortRuns(runs) {
  if (runs.reduce((sum, { text }) => sum + text.length, 0) <= rowLetters) return runs;
  return runs.flatMap((run, index) => {
    const { text, isMarked } = run;
    const head = index === 0 ? 0 : letterStart(text, contextLetters);
    const tail = index === runs.length - 1 ? text.length : letterStart(text, text.length - contextLetters);
    if (isMarked || tail - head < contextLetters) return [run];
    return [
      { text: text.slice(0, head), isMarked }, { text: "", isMarked, skipped: tail - head }, { text: text.slice(tail), isMarked },
    ].filter(({ text, skipped }) => text || skipped);
  });
}

const tags = { "-": "del", "+": "ins", " ": "div", "@": "div" };
const names = { "-": "line removed", "+": "line added", " ": "line", "@": "line skipped" };

const textNodes = (row) => lineNodes(row.runs ?? [{ text: row.text, isMarked: false }]);

/** `action(row)` returns the button of a row that begins a hunk. */
export const unifiedLine = (row, action = () => "") => element(tags[row.sign], {
  class: names[row.sign], "data-left": row.left ?? "", "data-right": row.right ?? "",
}, ...(row.sign === "@" ? [element("span", { text: row.text }), action(row)] : textNodes(row)));

/** Returns rows of two cells; removed and added lines of one change are side by side. */
export function sideRows(rows, action) {
  const found = [];
  const cell = (row, side) => (row
    ? element(tags[row.sign], { class: names[row.sign], "data-n": row[side] ?? "" }, ...textNodes(row))
    : element("div", { class: "line absent" }));
  for (let index = 0; index < rows.length;) {
    const row = rows[index];
    if (row.sign === "@") {
      found.push(element("div", { class: "pair whole" }, unifiedLine(row, action)));
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
